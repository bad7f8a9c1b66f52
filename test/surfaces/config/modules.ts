/** Modules for tests of loading. */
import { libraryUrl } from './folder.ts';

/** Source of a module that can define tools of the copy under test. */
export function moduleText(body: string): string {
  return `import { defineTool } from ${JSON.stringify(libraryUrl)};
const tool = (name, extra = {}) => defineTool({ name, description: name + '.', parameters: { type: 'object' }, handler: () => name, ...extra });
${body}
`;
}
