"""From a folder of somebody's own text to a scale: counted, held out, tokenised, sized."""
