/**
 * Names as a provider takes them: every tool under a name that is legal there, and the way back.
 * Pure.
 */
import { createHash } from 'node:crypto';
import { describe, MisuseError } from '../errors.ts';
import { readOptions } from '../options.ts';

/** What a provider takes for a name. */
export interface ProviderNameOptions {
  /**
   * What a legal name matches; a host's own expression, trusted as code is. Its flags count, its
   * `lastIndex` is neither read nor moved. @default /^[A-Za-z0-9_-]{1,64}$/
   */
  readonly pattern?: RegExp | undefined;
  /**
   * Most characters (UTF-16 units) of a name. A whole number from 1 to 1024. @default what
   * `pattern` leaves room for; where that is more than 64, a legal name may be longer and a changed
   * one is cut at 64
   */
  readonly maxLength?: number | undefined;
}

/** Both directions, in the order of the names given. */
export interface ProviderNames {
  /** Tool name to the name that the provider is shown. */
  readonly toProvider: ReadonlyMap<string, string>;
  /** The name that the provider is shown to tool name. */
  readonly toTool: ReadonlyMap<string, string>;
}

const usualLength = 64;
const longestName = 1_024;
/** Hexadecimal digits of a first suffix; more where these do not tell the names apart. */
const firstDigits = 8;
const mostDigits = 64;

/**
 * Gives every tool name a name that the provider takes. A legal name keeps itself. In another one
 * each illegal character becomes `_`, and it is cut to length; where that meets a legal name or
 * another changed one, all changed ones of that meeting end in a piece of their own name's SHA-256.
 * So a tool's name there depends on the set of names alone, not on their order. A repeated name is
 * one entry.
 * @throws MisuseError `invalid_option` for an empty name, one with a lone surrogate, options that
 * are none or unknown, and where the rule leaves no room for distinct names.
 *
 * @example
 * ```ts
 * import { toProviderNames } from 'host-tools/workflow';
 *
 * const { toProvider, toTool } = toProviderNames(['math.add', 'read_file']);
 * toProvider.get('math.add'); // 'math_add'
 * toTool.get('math_add'); // 'math.add'
 * ```
 */
export function toProviderNames(
  names: readonly string[],
  options?: ProviderNameOptions,
): ProviderNames {
  const rule = readRule(options);
  const given = readNames(names);
  const shown = new Map<string, string>();
  const taken = new Set<string>();
  const groups = new Map<string, string[]>();
  for (const name of given) {
    if (rule.allows(name)) {
      shown.set(name, name);
      taken.add(name);
      continue;
    }
    const base = legalBase(name, rule);
    const group = groups.get(base);
    if (group === undefined) groups.set(base, [name]);
    else group.push(name);
  }
  const contested: Contested[] = [];
  for (const [base, group] of groups) {
    if (group.length === 1 && !taken.has(base)) shown.set(group[0] as string, base);
    else
      for (const name of group)
        contested.push({ name, base, hash: createHash('sha256').update(name).digest('hex') });
  }
  for (const name of shown.values()) taken.add(name);
  tellApart(contested, taken, rule, shown);
  const toProvider = new Map<string, string>();
  const toTool = new Map<string, string>();
  for (const name of given) {
    const alias = shown.get(name) as string;
    toProvider.set(name, alias);
    toTool.set(alias, name);
  }
  return { toProvider, toTool };
}

/** A changed name that another name stands in the way of. */
interface Contested {
  readonly name: string;
  readonly base: string;
  readonly hash: string;
}

/**
 * Longer and longer suffixes, for all at once, until each is alone: who is named first does not
 * matter.
 */
function tellApart(
  contested: readonly Contested[],
  taken: Set<string>,
  rule: Rule,
  shown: Map<string, string>,
): void {
  const most = Math.min(mostDigits, rule.maxLength - 1 - rule.mark.length);
  let open = contested;
  for (
    let digits = Math.min(firstDigits, most);
    open.length > 0 && digits <= most && digits > 0;
    digits++
  ) {
    const wanted = new Map<string, Contested[]>();
    const left: Contested[] = [];
    for (const one of open) {
      const alias = cutToFit(one.base, `${rule.mark}${one.hash.slice(0, digits)}`, rule);
      if (alias === undefined || taken.has(alias)) left.push(one);
      else wanted.set(alias, [...(wanted.get(alias) ?? []), one]);
    }
    for (const [alias, those] of wanted) {
      if (those.length > 1) left.push(...those);
      else {
        shown.set((those[0] as Contested).name, alias);
        taken.add(alias);
      }
    }
    open = left;
  }
  if (open.length > 0) throw noName(open[0] as Contested, rule);
}

/** A provider's rule, ready to be asked. */
interface Rule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  /** What stands for an illegal character, and before a suffix. */
  readonly mark: string;
  allows(name: string): boolean;
  /** Whether a character may stand somewhere in a name. */
  allowsInside(character: string): boolean;
}

function readRule(options: ProviderNameOptions | undefined): Rule {
  const { pattern = /^[A-Za-z0-9_-]{1,64}$/, maxLength } = readOptions('toProviderNames', options, [
    'pattern',
    'maxLength',
  ]);
  if (Object.prototype.toString.call(pattern) !== '[object RegExp]')
    throw misuse('pattern', 'a RegExp', pattern);
  if (
    maxLength !== undefined &&
    !(Number.isInteger(maxLength) && maxLength >= 1 && maxLength <= longestName)
  )
    throw misuse('maxLength', `a whole number from 1 to ${longestName}`, maxLength);
  // A copy: `g` and `y` keep a place between two tests, which is the host's to keep.
  const own = new RegExp(pattern);
  const matches = (text: string): boolean => {
    own.lastIndex = 0;
    return own.test(text);
  };
  const known = new Map<string, boolean>();
  const allowsInside = (character: string): boolean => {
    let allowed = known.get(character);
    if (allowed === undefined) {
      // Alone, or after a letter: many rules want a letter first.
      allowed = [
        character,
        `a${character}`,
        `A${character}`,
        `_${character}`,
        `a${character}a`,
      ].some(matches);
      known.set(character, allowed);
    }
    return allowed;
  };
  return {
    pattern,
    maxLength: maxLength ?? longestOf(matches),
    mark: ['_', '-', '.'].find(allowsInside) ?? 'x',
    allows: (name) => (maxLength === undefined || name.length <= maxLength) && matches(name),
    allowsInside,
  };
}

/** How long names may grow under a pattern that sets its own limit. */
function longestOf(matches: (text: string) => boolean): number {
  for (let length = usualLength; length > 0; length--)
    if (['a', 'A', '_'].some((character) => matches(character.repeat(length)))) return length;
  return usualLength;
}

function readNames(names: readonly string[]): ReadonlySet<string> {
  if (!Array.isArray(names)) throw misuse('names', 'an array of tool names', names);
  for (const name of names as readonly unknown[]) {
    if (typeof name !== 'string' || name === '') throw misuse('names', 'non-empty strings', name);
    if (/\p{Surrogate}/u.test(name))
      throw misuse('names', 'strings without lone surrogates', JSON.stringify(name));
  }
  return new Set(names);
}

/**
 * The name with its illegal characters replaced, cut to length; with something before it where the
 * rule wants another beginning.
 */
function legalBase(name: string, rule: Rule): string {
  const mended = Array.from(name, (character) =>
    rule.allowsInside(character) ? character : rule.mark,
  ).join('');
  for (const start of ['', rule.mark, 'tool_', 't']) {
    const base = cutToFit(start + mended, '', rule);
    if (base !== undefined) return base;
  }
  throw noName({ name }, rule);
}

/** The longest beginning of `text`, by whole characters, that is legal with `suffix` behind it. */
function cutToFit(text: string, suffix: string, rule: Rule): string | undefined {
  const characters = Array.from(text.slice(0, rule.maxLength + 1));
  let length = characters.reduce((sum, character) => sum + character.length, suffix.length);
  for (let count = characters.length; count > 0; count--) {
    if (length <= rule.maxLength) {
      const candidate = characters.slice(0, count).join('') + suffix;
      if (rule.allows(candidate)) return candidate;
    }
    length -= (characters[count - 1] as string).length;
  }
  return undefined;
}

function misuse(field: string, expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `toProviderNames: expected \`${field}\` to be ${expected}, got ${describe(got)}.`,
  );
}

function noName({ name }: { readonly name: string }, { pattern, maxLength }: Rule): MisuseError {
  return new MisuseError(
    'invalid_option',
    'toProviderNames: no name of its own can be made for ' +
      `${JSON.stringify(name.slice(0, 100))} under ${String(pattern)} within ${maxLength} ` +
      `characters. Give a wider \`pattern\` or \`maxLength\`, or rename the tool.`,
  );
}
