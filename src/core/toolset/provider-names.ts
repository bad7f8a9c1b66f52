/** Maps tool names to names that a provider accepts, and back. */
import { sha256 } from '../../values/crypto.ts';
import { MisuseError } from '../../values/errors/index.ts';
import {
  array,
  checkOption,
  kind,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';

/** The names that a provider accepts. */
export interface ProviderNameOptions {
  /**
   * Matches legal names. It is the host's own expression, trusted like code. Its flags apply; its
   * `lastIndex` is neither read nor changed. @default /^[A-Za-z0-9_-]{1,64}$/
   */
  readonly pattern?: RegExp | undefined;
  /**
   * The most characters (UTF-16 units) of a name. A whole number from 1 to 1024. @default what
   * `pattern` allows; if that is more than 64, legal names may be longer and changed ones are cut
   * at 64
   */
  readonly maxLength?: number | undefined;
}

/** Both directions, in the order of the given names. */
export interface ProviderNames {
  /** From a tool's name to the name that the provider sees. */
  readonly toProvider: ReadonlyMap<string, string>;
  /** From the name that the provider sees to the tool's name. */
  readonly toTool: ReadonlyMap<string, string>;
}

const usualLength = 64;
const longestName = 1_024;
/** Hexadecimal digits of a suffix at first. More are used if these do not suffice. */
const firstDigits = 8;
const maxDigits = 64;

/**
 * Gives every tool a name that the provider accepts. A legal name stays unchanged. In any other
 * name, each illegal character becomes `_`, and the name is cut to length. If the result equals a
 * legal name or another changed one, all changed names in that conflict get a suffix from the
 * SHA-256 of their own name. The result depends only on the set of names, not on their order. A
 * repeated name is one entry.
 * @example
 * ```ts
 * import { toProviderNames } from 'host-tools/workflow';
 *
 * const { toProvider, toTool } = toProviderNames(['math.add', 'read_file']);
 * toProvider.get('math.add'); // 'math_add'
 * toTool.get('math_add'); // 'math.add'
 * ```
 * @throws MisuseError `invalid_option` for an empty name, one with a lone surrogate, invalid or
 * unknown options, and where the pattern leaves no room for distinct names
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
    else for (const name of group) contested.push({ name, base, hash: sha256(name) });
  }
  for (const name of shown.values()) taken.add(name);
  distinguish(contested, taken, rule, shown);
  const toProvider = new Map<string, string>();
  const toTool = new Map<string, string>();
  for (const name of given) {
    const alias = shown.get(name) as string;
    toProvider.set(name, alias);
    toTool.set(alias, name);
  }
  return { toProvider, toTool };
}

/** A changed name that conflicts with another name. */
interface Contested {
  readonly name: string;
  readonly base: string;
  readonly hash: string;
}

/**
 * Lengthens the suffixes of all names together until each is unique, so that the order of the names
 * does not matter.
 */
function distinguish(
  contested: readonly Contested[],
  taken: Set<string>,
  rule: Rule,
  shown: Map<string, string>,
): void {
  const most = Math.min(maxDigits, rule.maxLength - 1 - rule.mark.length);
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

/** A provider's rule for names. */
interface Rule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  /** Replaces an illegal character, and precedes a suffix. */
  readonly mark: string;
  allows(name: string): boolean;
  /** Whether a character may occur anywhere in a name. */
  allowsInside(character: string): boolean;
}

const where = 'toProviderNames';
const ruleTable = {
  pattern: withDefault(
    kind<RegExp>(
      'a RegExp',
      // Not `instanceof`, which refuses a RegExp of another realm.
      (value) => Object.prototype.toString.call(value) === '[object RegExp]',
    ),
    /^[A-Za-z0-9_-]{1,64}$/,
  ),
  maxLength: wholeNumber(1, longestName),
} satisfies TableOf<ProviderNameOptions>;

function readRule(options: ProviderNameOptions | undefined): Rule {
  const { pattern, maxLength } = readOptions(where, options, ruleTable);
  // A copy, since with `g` and `y` a test would change the host's `lastIndex`.
  const own = new RegExp(pattern);
  const matches = (text: string): boolean => {
    own.lastIndex = 0;
    return own.test(text);
  };
  const known = new Map<string, boolean>();
  const allowsInside = (character: string): boolean => {
    let allowed = known.get(character);
    if (allowed === undefined) {
      // Alone or after a letter, since many rules require a letter first.
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

/** The longest name that the pattern allows. */
function longestOf(matches: (text: string) => boolean): number {
  for (let length = usualLength; length > 0; length--)
    if (['a', 'A', '_'].some((character) => matches(character.repeat(length)))) return length;
  return usualLength;
}

function readNames(names: readonly string[]): ReadonlySet<string> {
  checkOption(where, 'names', names, array('an array of tool names'));
  for (const name of names as readonly unknown[]) {
    if (typeof name !== 'string' || name === '')
      throw wrongOption(where, 'names', 'non-empty strings', name);
    if (/\p{Surrogate}/u.test(name))
      throw wrongOption(where, 'names', 'strings without lone surrogates', JSON.stringify(name));
  }
  return new Set(names);
}

/**
 * The name with its illegal characters replaced, cut to length, with a prefix if the rule requires
 * another first character.
 */
function legalBase(name: string, rule: Rule): string {
  const repairedValue = Array.from(name, (character) =>
    rule.allowsInside(character) ? character : rule.mark,
  ).join('');
  for (const start of ['', rule.mark, 'tool_', 't']) {
    const base = cutToFit(start + repairedValue, '', rule);
    if (base !== undefined) return base;
  }
  throw noName({ name }, rule);
}

/** The longest prefix of `text`, in whole characters, that is legal when followed by `suffix`. */
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

function noName({ name }: { readonly name: string }, { pattern, maxLength }: Rule): MisuseError {
  return new MisuseError(
    'invalid_option',
    'toProviderNames: cannot make a distinct name for ' +
      `${JSON.stringify(name.slice(0, 100))} under ${String(pattern)} within ${maxLength} ` +
      `characters. Give a wider \`pattern\` or \`maxLength\`, or rename the tool.`,
  );
}
