// runfold/fold: from records to where a run stands, and every point it passed. Pure; runs wherever JavaScript does.

export * from '#fold'
