/** Checks a definition before it is added to a table. */
import { outputOrigins, roles } from '../../parts/origins/profile-labels.ts';
import type { PartSet } from '../part.ts';
import { internalsOf, type ToolInternals } from '../tool/definition.ts';
import type { AnyTool } from '../tool/tool-config.ts';
import { checkMarkParts, checkMarks } from './check-marks.ts';
import type { RegistryState } from './registry-state.ts';

/**
 * Converts and checks the schemas now, so that nothing fails at listing. True if the host has
 * labelled the tool with origins of its outputs or roles of its arguments.
 * @throws MisuseError for a foreign or unusable definition, or for a schema of an absent part.
 */
export function checkDefinition(definition: AnyTool, registry: RegistryState): boolean {
  const fields = internalsOf(definition);
  registry.parts.checkTool(`Tool \`${definition.name}\``, fields);
  prepareSchemas(fields, registry.parts);
  const { input, output, knobs, originGiven, outside } = fields;
  const native = [...input.check(), ...(output?.check() ?? []), ...(knobs?.check() ?? [])];
  if (native.length > 0)
    registry.warn(
      { tool: definition.name, patterns: native },
      'patterns that RE2 cannot express run on the native engine, which a hostile input can ' +
        'hang; rewrite them without lookaround and backreferences',
    );
  checkMarkParts(definition, registry.parts);
  // Labels in a definition from outside are not trusted, so they are not checked either.
  if (!input.trusted) return originGiven || outside?.labels !== undefined;
  const where = `Tool \`${definition.name}\``;
  const hasRoles = checkMarks(input.json, 'role', roles, `${where}, \`parameters\``);
  const hasOrigins =
    output !== undefined &&
    checkMarks(output.json, 'origin', outputOrigins, `${where}, \`outputSchema\``);
  return originGiven || hasRoles || hasOrigins;
}

/** Gives plain schemas what runs them. @throws MisuseError `missing_part` */
export function prepareSchemas({ input, output, knobs }: ToolInternals, parts: PartSet): void {
  for (const schema of [input, output, knobs])
    schema?.prepare((what) => parts.find('schemas', schema.kind, what));
}
