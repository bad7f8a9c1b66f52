/**
 * Checks the labels that a profile gives to the fields of a tool: origins of outputs, roles of
 * inputs.
 */
import type { OutputOrigin, Role } from '../../api/origins.ts';
import type { AnyTool } from '../../api/tool.ts';
import { maxTextLength } from '../../core/rules/rule-check.ts';
import { partsOf } from '../../core/tool/check-marks.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { probablyMeant, wrongOption } from '../../values/options/index.ts';

const maxLabels = 1_000;
const maxSegments = 64;
/** The words that label a field of an output. */
const outputOrigins = ['trusted', 'untrusted'] as const satisfies readonly OutputOrigin[];
/** The words that label a field of an input. */
const roles = ['target', 'content', 'free'] as const satisfies readonly Role[];

/** @throws MisuseError for a malformed path or an unknown origin */
export function checkOriginLabels(
  given: JsonObject | undefined,
  where: string,
  field: string,
): void {
  checkLabelsIn(given, outputOrigins, where, field);
}

/** @throws MisuseError for a malformed path or an unknown role */
export function checkRoleLabels(given: JsonObject | undefined, where: string, field: string): void {
  checkLabelsIn(given, roles, where, field);
}

function checkLabelsIn(
  given: JsonObject | undefined,
  known: readonly string[],
  where: string,
  field: string,
): void {
  if (given === undefined) return;
  const entries = Object.entries(given);
  if (entries.length === 0 || entries.length > maxLabels)
    throw wrongOption(where, field, `left out or a map of 1 to ${maxLabels} paths`, given);
  const words = known.map((word) => `\`${word}\``).join(', ');
  for (const [path, label] of entries) {
    const segments = path.split('.');
    const wellFormed =
      path.length <= maxTextLength && segments.length <= maxSegments && !segments.includes('');
    if (!wellFormed)
      throw wrongOption(
        where,
        field,
        `keyed by paths of 1 to ${maxSegments} names joined by dots`,
        path,
      );
    if (!known.includes(label as string))
      throw wrongOption(where, `${field}[${JSON.stringify(path)}]`, `one of ${words}`, label);
  }
}

// Checks the labels that a host writes into its schemas: `x-origin` and `x-role`.

/**
 * Refuses an unknown label, which would have no effect. `origin` and `role`, as zod's `.meta()`
 * writes them, may belong to another vocabulary, so only what looks like a misspelling is refused
 * there. Returns whether there is a label.
 * @param known the words of the label
 * @throws MisuseError `invalid_schema`, which names the tool and the word
 */
function checkMarks(
  schema: JsonObject,
  keyword: 'origin' | 'role',
  known: readonly string[],
  where: string,
): boolean {
  let isFound = false;
  for (const part of partsOf(schema, keyword, `x-${keyword}`))
    if (checkPart(part, keyword, known, where)) isFound = true;
  return isFound;
}

function checkPart(
  part: JsonObject,
  keyword: string,
  known: readonly string[],
  where: string,
): boolean {
  let isFound = false;
  const words = known.map((word) => `\`${word}\``).join(', ');
  for (const name of [`x-${keyword}`, keyword]) {
    const value = Object.hasOwn(part, name) ? part[name] : undefined;
    if (value === undefined) continue;
    if (known.includes(value as string)) {
      isFound = true;
      continue;
    }
    const isMisspelt = typeof value === 'string' && probablyMeant(value, known) !== undefined;
    if (name !== keyword || isMisspelt)
      throw new MisuseError(
        'invalid_schema',
        `${where}: expected \`${name}\` to be one of ${words}, got ${describe(value)}.`,
      );
  }
  return isFound;
}

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
