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

/** The members that can be wrong, in the order in which they are looked at. */
const noMembers = { decision: undefined, roles: undefined, grant: undefined, input: undefined };

/** Describes an invalid answer, by its first wrong field if it has fields. */
export function describeReceived(answer: unknown): string {
  try {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
      return describe(answer);
    const misspelt = misspeltAnswer(answer);
    if (misspelt !== undefined) return `the unknown member \`${misspelt.slice(0, 60)}\``;
    const own: Record<string, unknown> = { ...noMembers, ...answer };
    const wrong = Object.keys(noMembers).find(
      (name) => readAnswer({ decision: own.decision, [name]: own[name] }) === undefined,
    );
    return wrong === undefined ? wrongInput : `\`${wrong}\`: ${describe(own[wrong])}`;
  } catch {
    return 'an object that cannot be read';
  }
}
