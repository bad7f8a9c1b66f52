/** How the type tests prove things. Nothing of it runs: a proof holds where it compiles. */

/** A value of a type, out of nothing. */
export declare const given: <T>() => T;
/** Compiles where the value fits `T`; where it does not, the compiler says why. */
export declare const fits: <T>(value: T) => void;

/** True where two types are the same, `any`, `readonly` and optional told apart. */
export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles as `same<A, B>(true)` where the two types are the same. */
export declare const same: <A, B>(proof: Same<A, B>) => void;

/**
 * The keys that `Ours` has beyond those of `Theirs`. Compiles as
 * `adds<Ours, Theirs, 'a' | 'b'>(true)` where those and no others were added, and none is missing.
 */
export declare const adds: <Ours, Theirs, Added = never>(
  proof: [Exclude<keyof Theirs, keyof Ours>] extends [never]
    ? Same<Exclude<keyof Ours, keyof Theirs>, Added>
    : { missing: Exclude<keyof Theirs, keyof Ours> },
) => void;
