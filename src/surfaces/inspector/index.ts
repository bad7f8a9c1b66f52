/** The inspector: a page that shows what the tools of a registry do. */
export { createInspector, type Inspector, type InspectorOptions } from './create-inspector.ts';
