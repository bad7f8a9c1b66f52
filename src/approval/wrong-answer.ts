/**
 * Answers that are none, told apart before they close a question; and what is wrong with them, in
 * words for the host.
 */
import { describe, MisuseError } from '../errors.ts';
import { approvalChoices, misspeltAnswer, type ReadAnswer, readAnswer } from './request.ts';

const expected =
  `${approvalChoices.map((choice) => `"${choice}"`).join(', ')} or { decision, by?, message?, ` +
  'input?, grant?: { match?, uses?, expiresInMs? } }';

/** What came, where the input of an answer is none. */
export const wrongInput = 'an `input` that is no JSON object within the limits of an input';

/** What the log and `error.cause` hold where an approver's answer is none. */
export function wrongAnswer(came: string): MisuseError {
  return new MisuseError(
    'invalid_option',
    `Expected the approver to answer ${expected}, got ${came}.`,
  );
}

/**
 * Reads an answer before its question is looked for. @throws MisuseError `invalid_option` for an
 * answer that no call could take.
 */
export function takeAnswer(where: string, answer: unknown, maxInputChars?: number): ReadAnswer {
  const read = readAnswer(answer, maxInputChars);
  if (read !== undefined && read.input !== 'unreadable') return read;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected ${expected}, got ${whatCame(answer)}. The question stays open: answer ` +
      'it again.',
  );
}

/** What came: the first field at fault, where the answer has fields. */
export function whatCame(answer: unknown): string {
  try {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
      return describe(answer);
    const misspelt = misspeltAnswer(answer);
    if (misspelt !== undefined) return `the unknown member \`${misspelt.slice(0, 60)}\``;
    const { decision, input, grant } = {
      decision: undefined,
      input: undefined,
      grant: undefined,
      ...answer,
    };
    if (readAnswer({ decision }) === undefined) return `\`decision\`: ${describe(decision)}`;
    if (readAnswer({ decision, grant }) === undefined) return `\`grant\`: ${describe(grant)}`;
    return readAnswer({ decision, input }) === undefined
      ? `\`input\`: ${describe(input)}`
      : wrongInput;
  } catch {
    return 'an object that cannot be read';
  }
}
