/**
 * Checks of definitions: what a registry would refuse, and what is better said otherwise. Their
 * handlers are never run.
 */
import {
  type AnyTool,
  type HostToolRegistry,
  isMisuseError,
  type MisuseCode,
} from '../../index.ts';
import { internalsOf } from '../../surface-port.ts';
import { refusedInputs } from './validate-behaviour.ts';
import type { CheckName, Findings } from './validate-checks.ts';
import { textOf } from './validate-foreign-code.ts';
import { checkMeaning, refusing } from './validate-schema.ts';
import { checkDescriptionLength, checkNameStyle, type ToolCheckOptions } from './validate-tool.ts';

/** Which check a refusal of the registry belongs to; any other is about the definition as such. */
const checkOf: Partial<Record<MisuseCode, CheckName>> = {
  duplicate_name: 'name_unique',
  name_conflict: 'name_unique',
  invalid_schema: 'schema_valid',
};

/**
 * Registers each definition; what the registry refuses is found, and what it has already is left.
 */
export function registerEach(
  definitions: readonly AnyTool[],
  registry: HostToolRegistry,
  findings: Findings,
): void {
  for (const definition of definitions) {
    try {
      if (registry.get(definition.name) !== definition)
        registry.register(definition as AnyTool<unknown>);
    } catch (error) {
      findings.fail(
        (isMisuseError(error) && checkOf[error.code]) || 'definitions',
        textOf(error),
        definition.name,
      );
    }
  }
}

/** Checks definitions that a registry has taken. Answers their names. */
export async function checkDefinitions(
  definitions: readonly AnyTool[],
  findings: Findings,
  options: ToolCheckOptions,
): Promise<string[]> {
  if (definitions.length > 0)
    findings.note(
      'definitions',
      undefined,
      definitions.length === 1 ? 'One definition.' : `${definitions.length} definitions.`,
    );
  for (const definition of definitions) await checkDefinition(definition, findings, options);
  return definitions.map(({ name }) => name);
}

async function checkDefinition(
  definition: AnyTool,
  findings: Findings,
  { timeoutMs, behaviour }: ToolCheckOptions,
): Promise<void> {
  const { name, description } = definition;
  const { input } = internalsOf(definition);
  const schema = { json: input.json, refuses: refusing((copy) => input.validate(copy)) };
  checkNameStyle(name, findings);
  checkDescriptionLength(description, name, findings);
  findings.note('schema_valid', undefined, 'Its schema is usable.', name);
  checkMeaning(schema, input.check(), name, findings);
  if (!behaviour) return;
  // The library refuses such input before it would call the handler, so asking the schema is the
  // whole behaviour.
  const { inputs, late } = await refusedInputs(schema, timeoutMs);
  const undecided = late
    ? `Its schema did not decide about bad input within ${timeoutMs} ms.`
    : undefined;
  if (!findings.note('settles', undecided, 'Its schema decides in time.', name)) return;
  if (inputs.length > 0)
    findings.note(
      'refuses_invalid_input',
      undefined,
      'It refuses input that its schema refuses.',
      name,
    );
  else
    findings.fail(
      'behaviour_skipped',
      'Its schema refuses none of the inputs that could be tried.',
      name,
    );
}
