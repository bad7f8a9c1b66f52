/**
 * Parts: what a registry can do without. A part adds options, methods and gates to a registry. The
 * core knows no part, only the ports that parts fill. `registry/define-part.ts` makes them.
 */

import { MisuseError } from '../values/errors/index.ts';
import {
  type OptionsWording,
  type OptionTable,
  type OptionValues,
  readOptions,
} from '../values/options/index.ts';
import type { SchemaEngine } from '../values/schema/bind.ts';
import type { RuleWords } from './rules/rule-check.ts';

/** A part, as a host passes it to a registry. */
export interface Part {
  /** The name of its function. */
  readonly name: string;
}

/** Where a host writes options. */
export type OptionPlace = 'registry' | 'session' | 'profile' | 'profileTool';

/**
 * Where a host uses a part: by an option or a value of one, a field of a tool, the names of tools,
 * a method, a kind or a mark of a schema, or a test or a key of a rule.
 */
export type Place =
  | OptionPlace
  | 'sessionValues'
  | 'tool'
  | 'call'
  | 'rule'
  | 'names'
  | 'registryMethods'
  | 'sessionMethods'
  | 'schemas'
  | 'marks'
  | 'tests'
  | 'ruleKeys'
  | 'askKeys';

/** What parts know by a name: words of rules, kinds of schemas, and marks in them. */
interface PartWords extends RuleWords {
  readonly schemas: SchemaEngine;
  readonly marks: true;
}

type Words<P extends keyof PartWords> = Readonly<Record<string, PartWords[P]>>;

/** What a part adds to options, schemas and rules. */
export interface PartSpec {
  readonly name: string;
  /** Parts of a lower rank fill their ports, and are asked, before others. @default 0 */
  readonly rank?: number;
  /** The options that it adds. */
  readonly options?: Readonly<Partial<Record<OptionPlace, OptionTable>>>;
  /** Runs schemas, by their kinds. */
  readonly schemas?: Words<'schemas'>;
  /** Compiles tests of rules, by their names. */
  readonly tests?: Words<'tests'>;
  /** Compiles further conditions of rules, by their keys. */
  readonly ruleKeys?: Words<'ruleKeys'>;
  /** Reads what questions of rules that ask show besides, by their keys. */
  readonly askKeys?: Words<'askKeys'>;
  /** The marks of schemas that it acts upon: each with its name, and with `x-` before it. */
  readonly marks?: Words<'marks'>;
}

/** What an absent part would have read, and how to add it. */
export interface AbsentPart {
  readonly part: string;
  /** The line that a host has to add, which imports the part's function. */
  readonly importLine: string;
}

/** Finds the part of an option, a method or a mark. Undefined for what no part has. */
export type PartOf = (place: Place, name: string) => AbsentPart | undefined;

/** What a registry knows of its parts by their names and options. */
export abstract class PartSet<S extends PartSpec = PartSpec> {
  /** @internal */
  specs: readonly S[];
  /** Undefined if no part is absent. */
  readonly partOf: PartOf | undefined;
  /** @internal */
  readonly tables = new Map<OptionTable, OptionTable>();

  /** @throws MisuseError `invalid_option`, for what is given twice. */
  constructor(specs: readonly S[], partOf?: PartOf) {
    this.specs = byRank(specs);
    this.partOf = partOf;
    const names = this.specs.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined)
      throw new MisuseError(
        'invalid_option',
        `HostToolRegistry: expected \`parts\` to have each part once, got \`${twice}\` twice.`,
      );
  }

  /**
   * Adds a part that is not there yet.
   * @internal
   */
  add(spec: S): void {
    this.specs = byRank([...this.specs, spec]);
    this.tables.clear();
  }

  /** Whether the parts include one, by its name. */
  has(part: string): boolean {
    return this.specs.some(({ name }) => name === part);
  }

  /**
   * What a part has for a name.
   * @param what What needs it, such as ``registry rule 0: `when["a"].matches` ``.
   * @throws MisuseError `missing_part`.
   * @internal
   */
  find<P extends keyof PartWords>(place: P, name: string, what: string): PartWords[P] {
    for (const spec of this.specs) {
      const all = spec[place];
      if (all !== undefined && Object.hasOwn(all, name)) return all[name] as PartWords[P];
    }
    throw this.missing(place, name, what);
  }

  /**
   * The error for a use of an absent part.
   * @param what What was used, such as `session.explain()`.
   */
  missing(place: Place, name: string, what: string): MisuseError {
    return missingPart(what, this.partOf?.(place, name));
  }

  /**
   * The names that the parts have.
   * @internal
   */
  namesOf(place: keyof RuleWords): readonly string[] {
    return this.specs.flatMap((spec) => Object.keys(spec[place] ?? {}));
  }

  /**
   * Whether some part has a name, also an absent one.
   * @internal
   */
  knows(place: keyof RuleWords, name: string): boolean {
    return this.namesOf(place).includes(name) || this.partOf?.(place, name) !== undefined;
  }

  /**
   * Reads options by the core's table and those of the parts.
   * @throws MisuseError `missing_part` for one of an absent part, and for what else is wrong.
   */
  readOptions<T extends OptionTable>(
    place: OptionPlace,
    where: string,
    options: object,
    core: T,
    wording?: OptionsWording,
  ): OptionValues<T> & Readonly<Record<string, unknown>> {
    let table = this.tables.get(core);
    if (table === undefined) {
      table = Object.assign({}, core, ...this.specs.map((spec) => optionsIn(spec, place)));
      this.tables.set(core, table as OptionTable);
    }
    return readOptions(where, options, table as T, {
      ...wording,
      missing: (name, what) => {
        const absent = this.partOf?.(place, name);
        return absent && missingPart(what, absent);
      },
    });
  }

  /**
   * Refuses what only absent parts do with a tool or a rule: a field, or one value of it.
   * @param fields Those that are set, or undefined.
   * @throws MisuseError `missing_part`.
   */
  checkFields(place: 'tool' | 'rule', where: string, fields: object): void {
    const { partOf } = this;
    if (partOf === undefined) return;
    for (const [field, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const one = typeof value === 'string' ? `${field}: ${JSON.stringify(value)}` : field;
      const absent = partOf(place, field) ?? partOf(place, one);
      if (absent !== undefined && !this.has(absent.part))
        throw missingPart(`${where}: \`${one}\``, absent);
    }
  }
}

function byRank<S extends PartSpec>(specs: readonly S[]): readonly S[] {
  return [...specs].sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
}

const noOptions: OptionTable = Object.freeze({});

/** The options that a part adds to a place. */
export function optionsIn({ options }: PartSpec, place: OptionPlace): OptionTable {
  return options !== undefined && Object.hasOwn(options, place)
    ? (options[place] ?? noOptions)
    : noOptions;
}

/** @param what What was used, such as ``createSession: `name` ``. */
function missingPart(what: string, absent: AbsentPart | undefined): MisuseError {
  if (absent === undefined)
    return new MisuseError('missing_part', `${what} needs a part that the registry does not have.`);
  const { part, importLine } = absent;
  return new MisuseError(
    'missing_part',
    `${what} needs the part \`${part}\`. Write \`${importLine}\`, and give the registry ` +
      `\`parts: [${part}()]\`.`,
    { part },
  );
}

/** Methods of parts, by name. */
export type PartMethods<T> = ReadonlyMap<string, (state: T, ...args: never[]) => unknown>;

/** What is behind an object of a class whose methods parts may have filled. */
export interface WithParts<T> {
  readonly state: T;
  readonly methods: PartMethods<T>;
  readonly parts: PartSet;
}

/**
 * Defines methods that parts may have filled. A name such as `approvals.pending` is a method of the
 * object that `approvals` returns.
 * @param place `registry` or `session`.
 */
export function defineMethods<T>(
  prototype: object,
  place: 'registry' | 'session',
  names: Iterable<string>,
  find: (object: object) => WithParts<T>,
): void {
  const call = ({ state, methods, parts }: WithParts<T>, name: string, args: never[]): unknown => {
    const method = methods.get(name);
    if (method !== undefined) return method(state, ...args);
    throw parts.missing(`${place}Methods`, name, `${place}.${name}()`);
  };
  const members = new Map<string, string[]>();
  for (const name of names) {
    const [object, member] = name.split('.') as [string, string | undefined];
    if (member !== undefined) members.set(object, [...(members.get(object) ?? []), member]);
    else
      Object.defineProperty(prototype, name, {
        value(this: object, ...args: never[]): unknown {
          return call(find(this), name, args);
        },
        configurable: true,
        writable: true,
      });
  }
  for (const [object, own] of members) {
    const core = Object.getOwnPropertyDescriptor(prototype, object)?.get;
    Object.defineProperty(prototype, object, {
      get(this: object): object {
        const found = find(this);
        const methods = own.map((name) => [
          name,
          (...args: never[]) => call(found, `${object}.${name}`, args),
        ]);
        return Object.freeze({ ...core?.call(this), ...Object.fromEntries(methods) });
      },
      configurable: true,
    });
  }
}
