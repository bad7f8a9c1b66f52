/** Where `bench/` is, for what runs from the built folder; given by {@link runFamily}. */
import { pathToFileURL } from 'node:url';

export const benchFolder = pathToFileURL(`${process.argv[3] ?? '.'}/`);
