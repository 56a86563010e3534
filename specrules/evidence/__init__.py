"""The world to facts.

`readers` turn logs, metrics dumps and responses into facts, as an engine's file says; `help` reads what a program
prints of its own options; `gguf` reads headers, `tokenizers` compares what they mean, `memory` adds up what they need,
and `devices` asks what there is.
"""
