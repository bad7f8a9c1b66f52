/** Regular expressions for schemas and rules: ECMAScript source, matched in linear time. */
import { RE2JS } from 're2js';
import { MisuseError } from '../errors/index.ts';
import { splitLookarounds } from './lookarounds.ts';

/** A compiled pattern. */
export interface Matcher {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

export interface PatternOptions {
  /**
   * Whether the pattern is the host's own. If the linear engine cannot express it, a trusted
   * pattern runs on the native engine; one from outside is refused.
   */
  readonly trusted: boolean;
}

export interface CompiledPattern {
  readonly matcher: Matcher;
  /** Whether the native, backtracking engine runs it. Only a trusted pattern can. */
  readonly native: boolean;
  /**
   * About how many instructions the pattern has. A match costs at most this many per character. 0
   * if native.
   */
  readonly size: number;
}

/** The longest pattern accepted from outside, in UTF-16 units. */
const maxUntrustedPattern = 512;

/**
 * Compiles an ECMAScript pattern, unanchored and by code points, to a matcher that cannot
 * backtrack.
 * @throws MisuseError `invalid_schema` if the pattern is not a regular expression, or if it is
 * untrusted and is too long or cannot run on the linear engine
 */
export function compilePattern(source: string, options: PatternOptions): CompiledPattern {
  if (!options.trusted && source.length > maxUntrustedPattern) {
    throw new MisuseError(
      'invalid_schema',
      `The pattern has ${source.length} characters; at most ${maxUntrustedPattern} are accepted`,
    );
  }
  const shown = source.length > 80 ? `${source.slice(0, 77)}...` : source;
  try {
    return linear(source);
  } catch (error) {
    if (options.trusted) {
      try {
        return { matcher: new RegExp(source, 'u'), native: true, size: 0 };
      } catch (cause) {
        throw new MisuseError('invalid_schema', `\`${shown}\` is not a regular expression`, {
          cause,
        });
      }
    }
    const reason = error instanceof Error ? error.message : 'unknown syntax';
    throw new MisuseError(
      'invalid_schema',
      `The pattern \`${shown}\` cannot run in linear time (${reason}). Backreferences are not ` +
        'supported, nor lookaround, except right after the first `^` and right before the last `$`',
      { cause: error },
    );
  }
}

/** @throws if the linear engine cannot express the pattern */
function linear(source: string): CompiledPattern {
  const split = splitLookarounds(source);
  if (split === undefined) return compiled(source);
  const all = split.all.map(compiled);
  const none = split.none.map(compiled);
  return {
    matcher: {
      test: (text) =>
        all.every(({ matcher }) => matcher.test(text)) &&
        !none.some(({ matcher }) => matcher.test(text)),
    },
    native: false,
    size: [...all, ...none].reduce((sum, { size }) => sum + size, 0),
  };
}

function compiled(source: string): CompiledPattern {
  const matcher = RE2JS.compile(RE2JS.translateRegExp(toLinear(source)));
  return { matcher, native: false, size: matcher.programSize() };
}

const spaces =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}' +
  '\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const notSpaces =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}' +
  '\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}' +
  '\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

const categories: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Letter: 'L',
    Cased_Letter: 'LC',
    Uppercase_Letter: 'Lu',
    Lowercase_Letter: 'Ll',
    Titlecase_Letter: 'Lt',
    Modifier_Letter: 'Lm',
    Other_Letter: 'Lo',
    Mark: 'M',
    Nonspacing_Mark: 'Mn',
    Spacing_Mark: 'Mc',
    Enclosing_Mark: 'Me',
    Number: 'N',
    Decimal_Number: 'Nd',
    digit: 'Nd',
    Letter_Number: 'Nl',
    Other_Number: 'No',
    Punctuation: 'P',
    punct: 'P',
    Connector_Punctuation: 'Pc',
    Dash_Punctuation: 'Pd',
    Open_Punctuation: 'Ps',
    Close_Punctuation: 'Pe',
    Initial_Punctuation: 'Pi',
    Final_Punctuation: 'Pf',
    Other_Punctuation: 'Po',
    Symbol: 'S',
    Math_Symbol: 'Sm',
    Currency_Symbol: 'Sc',
    Modifier_Symbol: 'Sk',
    Other_Symbol: 'So',
    Separator: 'Z',
    Space_Separator: 'Zs',
    Line_Separator: 'Zl',
    Paragraph_Separator: 'Zp',
    Other: 'C',
    Control: 'Cc',
    Format: 'Cf',
  }),
);

/**
 * Rewrites what ECMAScript and RE2 read differently: white space, the dot, long names of Unicode
 * properties. Throws for syntax that has another meaning in RE2 (`\A`, `\z`, `\Q`, POSIX classes).
 */
function toLinear(source: string): string {
  let out = '';
  let inClass = false;
  const flagged = /\(\?[a-z-]*s/.test(source);
  for (let index = 0; index < source.length; index++) {
    const char = source[index] as string;
    if (char === '\\') {
      const next = source[++index];
      if (next === undefined) throw new Error('a trailing backslash');
      if (next === 's' || next === 'S') {
        const set = next === 's' ? spaces : notSpaces;
        out += inClass ? set : `[${set}]`;
      } else if (next === 'p' || next === 'P') {
        const end = source.indexOf('}', index);
        if (source[index + 1] !== '{' || end < 0)
          throw new Error(`\\${next} without a property name`);
        const name = source
          .slice(index + 2, end)
          .replace(/^(?:General_Category|gc|Script|sc)=/, '');
        out += `\\${next}{${categories.get(name) ?? name}}`;
        index = end;
      } else if ('AzZQECGaR'.includes(next)) {
        throw new Error(`\\${next} is not ECMAScript`);
      } else {
        out += char + next;
      }
    } else if (inClass) {
      if (char === '[' && source[index + 1] === ':')
        throw new Error('POSIX classes are not ECMAScript');
      // A bare bracket in a class is a literal.
      out += char === '[' ? '\\[' : char;
      if (char === ']') inClass = false;
    } else if (char === '[') {
      inClass = true;
      out += char;
      if (source[index + 1] === '^') out += source[++index];
      // `[]` matches nothing and `[^]` everything; RE2JS.translateRegExp handles both.
    } else if (char === '.' && !flagged) {
      out += '[^\\n\\r\\x{2028}\\x{2029}]';
    } else {
      out += char;
    }
  }
  return out;
}
