/** Reads the options of a function: own members only, each once, checked against a table. */
import { describe, type MisuseCode, MisuseError, messageOf } from '../errors/index.ts';
import type { DefaultedKind, Kind, RequiredKind } from './kinds.ts';
import { suggestion } from './spelling.ts';

/** The kind of each option. An option that is neither required nor has a default may be absent. */
export type OptionTable = Readonly<Record<string, Kind<unknown>>>;

/** A table with exactly the options of an interface. */
export type TableOf<T> = { readonly [Name in keyof T]-?: Kind<unknown> };

/** The options as read. Required ones and those with a default are never undefined. */
export type OptionValues<T extends OptionTable> = {
  readonly [Name in keyof T]: T[Name] extends RequiredKind<infer V> | DefaultedKind<infer V>
    ? V
    : T[Name] extends Kind<infer V>
      ? V | undefined
      : never;
};

/** How the faults of options are worded and raised. */
export interface OptionsWording {
  /** The code of the error. @default "invalid_option" */
  readonly code?: MisuseCode | undefined;
  /** The word for a member in messages. @default "option" */
  readonly noun?: string | undefined;
  /** The option whose members are read. With `limits`, messages say `limits.maxQueuedCalls`. */
  readonly path?: string | undefined;
  /**
   * Refuses an option that the object has from its class. It would not be read, which is dangerous
   * for one that restricts calls. @default false
   */
  readonly refusesInherited?: boolean | undefined;
  /** The error for an option that could be added. It is thrown unless the option is undefined. */
  readonly missing?: ((name: string, what: string) => MisuseError | undefined) | undefined;
}

/**
 * Reads options by a table. A fault reads ``createSession: expected `cwd` to be a string, got 5.``
 * @param where The function that was called, for messages.
 * @param options Undefined means that none are given.
 * @returns every option of the table, as an own member
 * @throws MisuseError if `options` is not an object, for an unknown name, for a value of another
 * kind, and for one that throws when it is read.
 */
export function readOptions<T extends OptionTable>(
  where: string,
  options: object | undefined,
  table: T,
  wording: OptionsWording = {},
): OptionValues<T> {
  const { absent, required, lists } = planOf(table);
  // Every option of the table is an own member, so nothing is read from the prototype. An object
  // without one would be several times slower to make.
  const read: Record<string, unknown> = { ...absent };
  let reading: string | undefined;
  try {
    if (options !== undefined) {
      if (typeof options !== 'object' || options === null || Array.isArray(options))
        throw notAnObject(where, options, wording);
      const keys = Object.keys(options);
      const { missing } = wording;
      for (const key of keys)
        if (!Object.hasOwn(table, key) && missing?.(key, where) === undefined)
          throw unknownOption(where, key, Object.keys(table), wording);
      if (wording.refusesInherited === true) refuseInherited(where, options, table, wording);
      for (reading of keys) {
        const given: unknown = (options as Record<string, unknown>)[reading];
        if (given === undefined) continue;
        if (!Object.hasOwn(table, reading))
          throw missing?.(reading, `${where}: \`${inside(wording.path, reading)}\``);
        // Each item is read once, like each option, and a hole is an item that is undefined.
        const value = lists.has(reading) && Array.isArray(given) ? [...given] : given;
        checkOption(where, reading, value, table[reading] as Kind<unknown>, wording);
        read[reading] = value;
      }
    }
  } catch (error) {
    throw unreadable(where, reading, error, wording);
  }
  for (const name of required)
    if (read[name] === undefined)
      checkOption(where, name, undefined, table[name] as Kind<unknown>, wording);
  return read as OptionValues<T>;
}

/** Members of `Object.prototype` come from a careless merge, and are ignored. */
function refuseInherited(
  where: string,
  options: object,
  table: OptionTable,
  { code = 'invalid_option', noun = 'option', path }: OptionsWording,
): void {
  let from: unknown = Object.getPrototypeOf(options);
  for (; from !== null && from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    const name = Object.keys(table).find(
      (one) => Object.hasOwn(from as object, one) && !Object.hasOwn(options, one),
    );
    if (name !== undefined)
      throw new MisuseError(
        code,
        `${where}: the ${noun} \`${inside(path, name)}\` is inherited, and only own members are ` +
          'read. Give a plain object that has it.',
      );
  }
}

/** The derived form of a table, computed once. */
interface Plan {
  /** Every option with its default, or undefined. */
  readonly absent: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly lists: ReadonlySet<string>;
}

type AnyKind = Kind<unknown> & Partial<RequiredKind<unknown>> & Partial<DefaultedKind<unknown>>;

const plans = new WeakMap<OptionTable, Plan>();

function planOf(table: OptionTable): Plan {
  const known = plans.get(table);
  if (known !== undefined) return known;
  const kinds = Object.entries(table).map(([name, kind]): [string, AnyKind] => [
    name,
    // Own members only: an `absent` on `Object.prototype` is no default.
    { __proto__: null, ...kind } as AnyKind,
  ]);
  const plan: Plan = {
    absent: Object.fromEntries(kinds.map(([name, { absent }]) => [name, absent])),
    required: kinds.filter(([, kind]) => kind.required === true).map(([name]) => name),
    lists: new Set(kinds.filter(([, kind]) => kind.isList === true).map(([name]) => name)),
  };
  plans.set(table, plan);
  return plan;
}

/**
 * Reads the own members of an object into an object that inherits nothing. Members that a careless
 * merge added to `Object.prototype` are therefore not options. Each member is read once, and its
 * value is not checked.
 * @param where The function that was called, for messages such as ``createSession: unknown option
 * `rule`; did you mean `rules`?``
 * @param options Undefined means that none are given.
 * @throws MisuseError if `options` is not an object, for an unknown name, and for a member that
 * throws when it is read.
 */
export function readMembers<T extends object>(
  where: string,
  options: T | undefined,
  known: readonly string[],
  wording: OptionsWording = {},
): Partial<T> {
  const own = Object.create(null) as Record<string, unknown>;
  if (options === undefined) return own as Partial<T>;
  let reading: string | undefined;
  try {
    if (typeof options !== 'object' || options === null || Array.isArray(options))
      throw notAnObject(where, options, wording);
    for (const key of Object.keys(options)) {
      if (!known.includes(key)) throw unknownOption(where, key, known, wording);
      reading = key;
      own[key] = (options as Record<string, unknown>)[key];
    }
  } catch (error) {
    throw unreadable(where, reading, error, wording);
  }
  return own as Partial<T>;
}

/**
 * Runs code that reads what is inside an option. What it throws becomes a MisuseError that names
 * the option.
 */
export function reading<T>(
  where: string,
  name: string,
  read: () => T,
  wording: OptionsWording = {},
): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(where, name, error, wording);
  }
}

/** Checks one value. @throws MisuseError that says what was expected and what was got. */
export function checkOption<T>(
  where: string,
  name: string,
  value: unknown,
  kind: Kind<T>,
  wording?: OptionsWording,
): asserts value is T {
  if (!kind.accepts(value)) throw wrongOption(where, name, kind.expected, value, wording);
}

/**
 * The error for a value of the wrong kind.
 * @param expected What was expected, such as "a string".
 */
export function wrongOption(
  where: string,
  name: string,
  expected: string,
  got: unknown,
  { code = 'invalid_option', path }: OptionsWording = {},
): MisuseError {
  return new MisuseError(
    code,
    `${where}: expected \`${inside(path, name)}\` to be ${expected}, got ${describe(got)}.`,
  );
}

function inside(path: string | undefined, name: string): string {
  return path === undefined ? name : `${path}.${name}`;
}

function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}

function notAnObject(
  where: string,
  got: unknown,
  { code = 'invalid_option', noun = 'option', path }: OptionsWording,
): MisuseError {
  const expected = path === undefined ? `an object of ${noun}s` : `\`${path}\` to be an object`;
  return new MisuseError(code, `${where}: expected ${expected}, got ${describe(got)}.`);
}

/** The error for a member that is not known. */
export function unknownOption(
  where: string,
  key: string,
  known: readonly string[],
  { code = 'invalid_option', noun = 'option', path }: OptionsWording,
): MisuseError {
  return new MisuseError(
    code,
    `${where}: unknown ${noun} \`${inside(path, shortened(key))}\`${suggestion(key, known)}`,
  );
}

/**
 * The error for options that threw when they were read, as getters and proxies may. A MisuseError
 * says already what is wrong, and is kept.
 * @param name The option that was read; undefined if it was the object itself.
 */
export function unreadable(
  where: string,
  name: string | undefined,
  thrown: unknown,
  { code = 'invalid_option', noun = 'option', path }: OptionsWording,
): MisuseError {
  if (thrown instanceof MisuseError) return thrown;
  const what =
    name !== undefined
      ? `\`${inside(path, name)}\``
      : path === undefined
        ? `${noun}s`
        : `\`${path}\``;
  return new MisuseError(code, `${where}: reading ${what} threw: ${messageOf(thrown)}.`, {
    cause: thrown,
  });
}
