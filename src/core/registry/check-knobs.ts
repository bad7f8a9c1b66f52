/** Checks the knobs that a profile sets for a tool. */
import { MisuseError } from '../../values/errors/index.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';

/**
 * Checks that the tool declares the knobs and that their values are valid.
 * @throws MisuseError that names the profile, the tool and the knob.
 */
export function checkKnobs(
  profileId: string,
  entry: ToolEntry,
  knobs: Readonly<Record<string, unknown>> | undefined,
): void {
  if (knobs === undefined) return;
  const schema = entry.internals.knobs;
  const names = Object.keys(knobs);
  const place = `Profile \`${profileId}\`, tool \`${entry.name}\``;
  if (schema === undefined) {
    if (names.length > 0)
      throw new MisuseError(
        'unknown_knob',
        `${place}: expected no knobs, since the tool declares none in \`policy.knobs\`, got ` +
          `\`${names.join('`, `')}\`.`,
      );
    return;
  }
  const properties = schema.json.properties;
  if (
    typeof properties === 'object' &&
    properties !== null &&
    schema.json.additionalProperties === undefined
  ) {
    const declared = Object.keys(properties);
    for (const name of names)
      if (!declared.includes(name))
        throw new MisuseError(
          'unknown_knob',
          `${place}: expected knobs among \`${declared.join('`, `')}\`, got \`${name}\`.`,
        );
  }
  const parsed = schema.validate(structuredClone(knobs) as never);
  if (parsed instanceof Promise) return;
  if (parsed.issues !== undefined) {
    const [issue] = parsed.issues;
    const { fault } = parsed;
    throw new MisuseError(
      'unknown_knob',
      `${place}: the knobs do not fit \`policy.knobs\`: ` +
        `${issue?.path === '' ? '' : `\`${issue?.path}\`: `}${issue?.message}.`,
      fault === undefined ? undefined : { cause: fault.thrown },
    );
  }
}
