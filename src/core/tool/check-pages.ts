/** Checks that no two tools of one source have different pages at one address. */
import type { AnyTool } from '../../api/tool.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { internalsOf } from './definition.ts';
import type { ToolEntry } from './tool-entry.ts';

/**
 * @param present The tools that stay beside the new ones.
 * @throws MisuseError `invalid_definition`
 */
export function checkPages(
  definitions: readonly AnyTool[],
  present: () => Iterable<ToolEntry>,
  owner: string,
): void {
  const fresh = definitions.filter((one) => internalsOf(one).ui?.html !== undefined);
  if (fresh.length === 0) return;
  const owned = [...present()].filter((entry) => entry.owner === owner);
  const pages = new Map<string, AnyTool>();
  for (const definition of [...owned.map((entry) => entry.definition), ...fresh]) {
    const { resourceUri, html } = internalsOf(definition).ui ?? {};
    if (resourceUri === undefined || html === undefined) continue;
    const before = pages.get(resourceUri);
    if (before !== undefined && internalsOf(before).ui?.html !== html)
      throw new MisuseError(
        'invalid_definition',
        `Tool \`${definition.name}\`: expected \`ui.html\` to be the page that ` +
          `\`${before.name}\` has at \`${resourceUri}\`, got another one. Leave out \`html\` to ` +
          'share it, or choose another address.',
      );
    pages.set(resourceUri, definition);
  }
}
