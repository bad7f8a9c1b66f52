/** The least that answers over a fork's channel. */
import handler from './echo.mjs';

process.on('message', ({ id, input }) => process.send({ id, output: handler(input) }));
