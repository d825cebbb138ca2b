"""Contact laws against measurements: hs.validate and `heelstrike validate`.

One file per data set. To add a set, write a subclass of `MeasuredSet` (measured_set.py) and name it
in SETS (sets.py). A set states:

    stem, measures, phases    beginning of its files' names; what is judged, with units and aims;
                              names of the phases of a case
    read(path)                -> Cases; checks columns, rate and values by files.py, and raises
                              FileError with file, row and remedy
    models()                  -> {name: function that returns a Model}: laws, MuJoCo, and the
                              baseline without contact; a Model predicts all cases for many sets of
                              parameters in one call and states the Space that is searched
    errors(cases, predicted)  -> {measure: (..., case, frame) or (..., case)}
    loss(errors)              -> (..., case): what the search minimises the mean of
    phase(cases)              -> (case, frame), index into `phases`, -1 where nothing was measured
    disturbed(cases, random)  -> Cases whose start is disturbed by the noise of the measurement,
                              for the noise floor (floor.py)
    curves(cases, channels, k) -> {label with unit: (frame,)} of case k, for pictures

Folds, the search, judging, standard errors, paired differences, floor, verdict, tables and pictures
are the same for all sets: validate.py, fit.py, judge.py, floor.py, verdict.py, tables.py;
view/figures/validation.py draws, cli/validate.py is the command. `Cases` (measured_set.py) holds
what was measured and what a simulation is given; `LawModel` (models.py) is the model of a simulator
whose motions begin with q and v, `Trajectories` a model by a function of your own.
"""
