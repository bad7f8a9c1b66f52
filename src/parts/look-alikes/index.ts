/** The test `alike` of rules: texts that look like other texts. */
export { lookAlikes } from './part.ts';
