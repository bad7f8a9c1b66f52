import { guardTests } from './guard-tests.ts';

await guardTests('qwen-code');
