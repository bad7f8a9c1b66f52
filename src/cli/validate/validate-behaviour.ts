/**
 * Calls mounted tools with input that their own schema refuses. No other input is ever sent, so the
 * tools do not do their work.
 */

import type { JsonObject } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { copyJson } from '../../values/json/index.ts';
import { type CheckName, type Findings, memberOf, textOf, within } from './validate-checks.ts';
import { badInputs, type UsableSchema } from './validate-schema.ts';

const limits = { maxDepth: 64, maxValues: 100_000 };

/** Runs the behavioural checks of one mounted tool, or reports why they were skipped. */
export async function checkBehaviour(
  tool: object,
  name: string,
  schema: UsableSchema | undefined,
  findings: Findings,
  timeoutMs: number,
): Promise<void> {
  const skip = (why: string): void =>
    findings.fail('behaviour_skipped', `Not called: ${why}`, name);
  if (schema === undefined)
    return skip('it has no usable schema, so no input is known to be invalid.');
  if (isDangerous(tool)) return skip('it is marked as destructive or as needing approval.');
  const { inputs } = await refusedInputs(schema, timeoutMs);
  if (inputs.length === 0) return skip('its schema accepts all inputs that could be tried.');

  const faults = new Map<CheckName, string>();
  const fault = (check: CheckName, text: string | undefined): void => {
    if (text !== undefined && !faults.has(check)) faults.set(check, text);
  };
  for (const input of inputs) {
    const given = `execute(${JSON.stringify(input)})`;
    const ended = await within(timeoutMs, () =>
      Reflect.apply((tool as { execute: () => unknown }).execute, tool, [structuredClone(input)]),
    );
    if (ended.kind === 'late') {
      fault('settles', `${given} did not settle within ${timeoutMs} ms.`);
      break;
    }
    if (ended.kind === 'threw')
      fault(
        'never_throws',
        `${given} threw: ${ended.text}. Return { success: false, error: { message } } instead.`,
      );
    else judge(ended.value, given, fault);
  }
  noteFaults(faults, name, findings, timeoutMs);
}

/** Adds the behavioural checks to the findings. */
function noteFaults(
  faults: ReadonlyMap<CheckName, string>,
  name: string,
  findings: Findings,
  timeoutMs: number,
): void {
  findings.note(
    'settles',
    faults.get('settles'),
    `It answers invalid input within ${timeoutMs} ms.`,
    name,
  );
  findings.note(
    'never_throws',
    faults.get('never_throws'),
    'It does not throw for invalid input.',
    name,
  );
  // A tool that gave no answer has nothing more to check.
  if (faults.has('settles') || faults.has('never_throws')) return;
  findings.note(
    'result_shape',
    faults.get('result_shape'),
    'Its results have the shape of the contract.',
    name,
  );
  findings.note('output_json', faults.get('output_json'), 'Its results are JSON.', name);
  findings.note(
    'refuses_invalid_input',
    faults.get('refuses_invalid_input'),
    'It refuses input that its schema refuses.',
    name,
  );
}

/** The bad inputs that the schema refuses, and whether it was too slow to decide about one. */
export async function refusedInputs(
  { json, refuses }: UsableSchema,
  timeoutMs: number,
): Promise<{ readonly inputs: JsonObject[]; readonly late: boolean }> {
  const inputs: JsonObject[] = [];
  const bad = badInputs(json);
  // Some runtimes add the id of the call to the input. A schema may refuse it, so one input has it.
  for (const input of [
    ...bad,
    ...bad.slice(-1).map((last) => ({ ...last, _tool_call_id: 'call-1' })),
  ]) {
    const answer = await within(timeoutMs, () => refuses(input));
    if (answer.kind === 'late') return { inputs, late: true };
    if (answer.kind === 'value' && answer.value) inputs.push(input);
  }
  return { inputs, late: false };
}

function isDangerous(tool: object): boolean {
  const annotations = memberOf(tool, 'annotations').value;
  const said = [
    ...['requires_approval', 'requiresApproval', 'destructive'].map(
      (key) => memberOf(tool, key).value,
    ),
    ...['destructive', 'destructiveHint'].map((key) => memberOf(annotations, key).value),
  ];
  return said.some((value) => value !== undefined && value !== null && value !== false);
}

function judge(
  result: unknown,
  given: string,
  fault: (check: CheckName, text: string | undefined) => void,
): void {
  try {
    const shape = shapeFault(result);
    if (shape !== undefined) return fault('result_shape', `${given} returned ${shape}`);
    const { success, output, error } = result as {
      success: boolean;
      output?: unknown;
      error?: unknown;
    };
    for (const [part, value] of Object.entries({ output, error })) {
      const copy = copyJson(value ?? null, limits);
      if (!copy.ok)
        fault(
          'output_json',
          `${given} returned a result that is not JSON at \`${part}${copy.path}\`: ` +
            `${copy.message}.`,
        );
    }
    if (success)
      fault(
        'refuses_invalid_input',
        `${given} succeeded, although the tool's own schema refuses that input. Check the ` +
          'input first.',
      );
  } catch (error) {
    fault('result_shape', `${given} returned a result that cannot be read: ${textOf(error)}`);
  }
}

/** What is wrong with a result's shape. The text continues "… returned". */
function shapeFault(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    return `${describe(result)}; expected { success, output?, error? }.`;
  const { success, error } = result as { success?: unknown; error?: unknown };
  if (typeof success !== 'boolean')
    return `\`success\` as ${describe(success)}; expected a boolean.`;
  if (success)
    return error === undefined || error === null
      ? undefined
      : 'success with an error; expected one of the two.';
  if (typeof error !== 'object' || error === null)
    return `a failure with \`error\` as ${describe(error)}; expected { message }.`;
  const { message } = error as { message?: unknown };
  if (typeof message !== 'string' || message.trim() === '')
    return (
      `a failure with \`error.message\` as ${describe(message)}; expected a text that says what ` +
      'was wrong.'
    );
  return undefined;
}
