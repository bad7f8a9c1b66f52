/** Whether the host has labelled a tool with origins of its outputs or roles of its arguments. */

import type { AnyTool } from '../../api/tool.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { checkMarks } from './check-marks.ts';
import { outputOrigins, roles } from './profile-labels.ts';

/** @throws MisuseError `invalid_schema` for an unknown label in a schema. */
export function isLabelled(definition: AnyTool): boolean {
  const { input, output, originGiven, outside } = internalsOf(definition);
  // Labels in a definition from outside are not trusted, so they are not checked either.
  if (!input.trusted) return originGiven || outside?.labels !== undefined;
  const where = `Tool \`${definition.name}\``;
  const hasRoles = checkMarks(input.json, 'role', roles, `${where}, \`parameters\``);
  const hasOrigins =
    output !== undefined &&
    checkMarks(output.json, 'origin', outputOrigins, `${where}, \`outputSchema\``);
  return originGiven || hasRoles || hasOrigins;
}
