"""One step of a scene, a file for each box of the flowchart of [Sugihara2006], Fig. 4."""
