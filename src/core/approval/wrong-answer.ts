/** Recognises invalid answers before they close a question, and describes them for the host. */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { approvalChoices, misspeltAnswer, type ReadAnswer, readAnswer } from './request.ts';

const expected =
  `${approvalChoices.map((choice) => `"${choice}"`).join(', ')} or { decision, by?, roles?, ` +
  'message?, input?, grant?: { match?, uses?, expiresInMs? } }';

/** Describes an answer whose `input` cannot be used. */
export const wrongInput = 'an `input` that is not a JSON object within the limits of an input';

/** The error for the log and for `error.cause` if an approver's answer is invalid. */
export function wrongAnswer(came: string): MisuseError {
  return new MisuseError(
    'invalid_option',
    `Expected the approver to return ${expected}, got ${came}.`,
  );
}

/** Reads an answer before its question is searched. @throws MisuseError `invalid_option` */
export function takeAnswer(where: string, answer: unknown, maxInputChars?: number): ReadAnswer {
  const read = readAnswer(answer, maxInputChars);
  if (read !== undefined && read.input !== 'unreadable') return read;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected ${expected}, got ${describeReceived(answer)}. ` +
      'The question stays open: answer it again.',
  );
}

/** Describes an invalid answer, by its first wrong field if it has fields. */
export function describeReceived(answer: unknown): string {
  try {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
      return describe(answer);
    const misspelt = misspeltAnswer(answer);
    if (misspelt !== undefined) return `the unknown member \`${misspelt.slice(0, 60)}\``;
    const { decision, roles, input, grant } = {
      decision: undefined,
      roles: undefined,
      input: undefined,
      grant: undefined,
      ...answer,
    };
    if (readAnswer({ decision }) === undefined) return `\`decision\`: ${describe(decision)}`;
    if (readAnswer({ decision, roles }) === undefined) return `\`roles\`: ${describe(roles)}`;
    if (readAnswer({ decision, grant }) === undefined) return `\`grant\`: ${describe(grant)}`;
    return readAnswer({ decision, input }) === undefined
      ? `\`input\`: ${describe(input)}`
      : wrongInput;
  } catch {
    return 'an object that cannot be read';
  }
}
