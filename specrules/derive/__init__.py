"""Case, facts and catalogue to the values that rules read: pure functions, no I/O.

`stated` turns a case into facts, `steps`, `acceptance` and `rounds` say what is known about the two sides,
`arithmetic` runs the formulas of `rules/formulas.yaml`, `projection` applies them to every draft length,
`attachment` and its neighbours look the engine up, and `values` puts everything under the names of
`rules/inputs.yaml`.
"""
