// A module that cannot be loaded.
throw new Error('no such luck');
