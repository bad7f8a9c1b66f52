/** What the package's own subpaths may use beside the public list. No export of the package names this module. */
export { createDefinition, internalsOf } from './definition.ts';
export { stateOf } from './session.ts';
