/** A value now or later: host code may answer either way. */
export type MaybePromise<T> = T | Promise<T>;
