/** Reading the options of a function: one table, one check, one wording. */
export {
  abortSignal,
  anything,
  array,
  arrayOf,
  type DefaultedKind,
  duration,
  flag,
  fn,
  type Kind,
  kind,
  longestTimerMs,
  milliseconds,
  numberFrom,
  object,
  oneOf,
  required,
  text,
  wholeNumber,
  withDefault,
  withMethods,
} from './options/kinds.ts';
export {
  checkOption,
  type OptionsWording,
  type OptionTable,
  type OptionValues,
  readMembers,
  readOptions,
  type TableOf,
  wrongOption,
} from './options/read-options.ts';
export { checkSpelling, probablyMeant, suggestion } from './options/spelling.ts';
