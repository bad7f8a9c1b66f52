/** Checks a definition before it is added to a table. */

import type { AnyTool } from '../../api/tool.ts';
import type { PartSet } from '../part.ts';
import { checkMarkParts } from '../tool/check-marks.ts';
import { internalsOf, type ToolInternals } from '../tool/definition.ts';
import type { SessionState } from './session-state.ts';

/**
 * Converts and checks the schemas now, so that nothing fails at listing.
 * @throws MisuseError for a foreign or unusable definition, or for a schema of an absent part.
 */
export function checkDefinition(definition: AnyTool, registry: { readonly parts: PartSet }): void {
  const fields = internalsOf(definition);
  const where = `Tool \`${definition.name}\``;
  for (const group of [fields, fields.execution]) registry.parts.checkFields('tool', where, group);
  if (fields.runsIn === 'external') registry.parts.checkFields('tool', where, { external: true });
  const { requiresApproval } = fields;
  if (typeof requiresApproval === 'object' && requiresApproval.approvers !== undefined)
    registry.parts.checkFields('tool', where, { 'requiresApproval.approvers': true });
  prepareSchemas(fields, registry.parts);
  for (const schema of [fields.input, fields.output, fields.knobs]) schema?.check();
  // Looking for marks takes longer than the rest.
  if (registry.parts.partOf !== undefined) checkMarkParts(definition, registry.parts);
}

type Look = (definition: AnyTool, session: SessionState | undefined) => void;

/** Shows parts a definition that is about to be registered, in a session or for all of them. */
export function showDefinition(
  definition: AnyTool,
  { ports }: { readonly ports: { readonly tools: { readonly definitions: readonly Look[] } } },
  session?: SessionState,
): void {
  for (const look of ports.tools.definitions) look(definition, session);
}

/** Gives plain schemas what runs them. @throws MisuseError `missing_part` */
export function prepareSchemas({ input, output, knobs }: ToolInternals, parts: PartSet): void {
  for (const schema of [input, output, knobs])
    schema?.prepare((what) => parts.find('schemas', schema.kind, what));
}
