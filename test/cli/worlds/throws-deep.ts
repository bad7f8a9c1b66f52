// A module whose own code throws some calls deep.
function open(): never {
  throw new Error('no database', { cause: new Error('refused') });
}

export const connect = (() => open())();
