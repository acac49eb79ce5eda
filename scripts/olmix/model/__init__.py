"""The language model: OLMo-2 in one file, its named shapes, its weights on disk."""
