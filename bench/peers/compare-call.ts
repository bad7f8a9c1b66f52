/**
 * One call of a peer against one governed call of a tool with a check, a timeout and an output
 * budget.
 */
import { sequential } from '../calls.ts';
import { input, normalTool, sessionOver } from '../fixtures.ts';
import { compare } from '../harness.ts';
import type { FamilyResult, TargetId } from '../targets.ts';

/** `check` says whether the peer answered what the handler gives. */
export async function compareCall(
  id: TargetId,
  peer: () => Promise<unknown>,
  check: (answer: unknown) => boolean,
  version: string,
): Promise<FamilyResult> {
  const answer = await peer();
  if (!check(answer)) throw new Error(`The peer answered ${JSON.stringify(answer)}.`);
  const { call } = sessionOver([normalTool]);
  const [own, other] = await compare([
    sequential('own', () => call('forecast', input)),
    sequential('peer', peer),
  ]);
  return {
    rows: [
      {
        id,
        value: other?.ratio ?? Number.NaN,
        note:
          `${version}: ${((own?.ns ?? 0) / 1e3).toFixed(2)} against ` +
          `${((other?.ns ?? 0) / 1e3).toFixed(2)} µs`,
      },
    ],
  };
}

/** Our answer is somewhere in theirs. */
export function holdsAnswer(answer: unknown): boolean {
  return JSON.stringify(answer).includes('21');
}
