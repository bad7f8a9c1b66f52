/** The values of a command line's words, once the shell has removed the quotes. */
import type { Word, WordPart } from 'unbash';
import type { Place } from '../place.ts';

/** A word whose value is known, or the reason why it is unknown. */
export type KnownWord =
  | { readonly value: string; readonly open?: undefined }
  | {
      /** The word, as far as it is known. */
      readonly value: string;
      /** What the shell inserts only when it runs: `$X`, `$(date)`, `*.ts`. */
      readonly open: string;
    };

/** Reads a word. Of the variables, only the home is filled in. */
export function readWord(word: Word, place: Place): KnownWord {
  const { parts, text } = word;
  if (parts !== undefined) return readParts(parts, place);
  if (!text.startsWith('~')) return { value: word.value };
  const [user = '', ...rest] = word.value.slice(1).split('/');
  if (user !== '') return { value: word.value, open: `~${user}` };
  return { value: [place.home, ...rest].join('/') };
}

/** @param quoted Whether it is in double quotes, where `~` is an ordinary character. */
function readParts(parts: readonly WordPart[], place: Place, quoted = false): KnownWord {
  let value = '';
  let open: string | undefined;
  for (const [index, part] of parts.entries()) {
    const read = readPart(part, place);
    open ??= read.open;
    value +=
      !quoted && index === 0 && part.type === 'Literal' && read.value.startsWith('~/')
        ? place.home + read.value.slice(1)
        : read.value;
  }
  return open === undefined ? { value } : { value, open };
}

function readPart(part: WordPart, place: Place): KnownWord {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { value: part.value };
    case 'DoubleQuoted':
    case 'LocaleString':
      return readParts(part.parts, place, true);
    case 'SimpleExpansion':
      return variable(part.text.slice(1), part.text, place);
    case 'ParameterExpansion':
      return part.prefix === undefined && part.index === undefined && part.operation === undefined
        ? variable(part.parameter, part.text, place)
        : { value: '', open: part.text };
    default:
      return { value: part.type === 'Glob' ? part.text : '', open: part.text };
  }
}

/** `$HOME` is the user's home. Any other variable may have been set before. */
function variable(name: string, text: string, { home }: Place): KnownWord {
  if (name === 'HOME') return { value: home };
  return { value: '', open: text };
}
