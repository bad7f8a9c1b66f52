/** What the package's own subpaths may use beside the public list. No export of the package names this module. */
export { createDefinition } from './define-tool.ts';
export { internalsOf } from './definition.ts';
export { describe } from './errors.ts';
export { stateOf } from './session.ts';
