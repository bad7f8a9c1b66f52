/** The clock of Redis, which all nodes share. */

/** The start of a script that needs `now`, in epoch milliseconds. */
export const nowLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;
