"""Examples that people made, or that rules and templates of people made: AdvGLUE's human-crafted part."""
