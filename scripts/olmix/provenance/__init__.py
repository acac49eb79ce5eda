"""Where results come from: environment, job logs, progress, a file traced to its inputs."""
