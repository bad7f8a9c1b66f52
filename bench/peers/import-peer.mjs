/**
 * Not built with the rest: from this place a peer's name means the copy in `bench/node_modules`.
 */
export const importPeer = (name) => import(name);
