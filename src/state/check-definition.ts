/** Checks a definition before it is added to a table. */
import { outputOrigins, roles } from '../policy/profile-labels.ts';
import { internalsOf } from '../tool/definition.ts';
import type { AnyTool } from '../tool/tool-config.ts';
import { checkMarks } from './check-marks.ts';
import type { RegistryState } from './registry-state.ts';

/**
 * Converts and checks the schemas now, so that nothing fails at listing.
 * @throws MisuseError for a foreign or unusable definition.
 */
export function checkDefinition(definition: AnyTool, registry: RegistryState): void {
  const { input, output, knobs } = internalsOf(definition);
  const native = [...input.check(), ...(output?.check() ?? []), ...(knobs?.check() ?? [])];
  // What a definition from outside says about itself is not believed, so it is not refused either.
  if (input.trusted) {
    const where = `Tool \`${definition.name}\``;
    checkMarks(input.json, 'role', roles, `${where}, \`parameters\``);
    if (output !== undefined)
      checkMarks(output.json, 'origin', outputOrigins, `${where}, \`outputSchema\``);
  }
  if (native.length > 0)
    registry.warn(
      { tool: definition.name, patterns: native },
      'patterns that RE2 cannot express run on the native engine, which a hostile input can ' +
        'hang; rewrite them without lookaround and backreferences',
    );
}
