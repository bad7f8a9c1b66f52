/** Arithmetic with the amounts of quotas, in Lua. */

/**
 * Amounts have more digits than Lua represents exactly, so they are lists of five numbers with nine
 * digits, the lowest first.
 */
export const amountsLua = `
local function big(text)
  local n = {}
  for i = 1, 5 do
    local last = #text - (i - 1) * 9
    local first = i == 5 and 1 or math.max(1, last - 8)
    n[i] = last > 0 and tonumber(string.sub(text, first, last)) or 0
  end
  return n
end
local function text(n)
  local all = string.format('%.0f%09.0f%09.0f%09.0f%09.0f', n[5], n[4], n[3], n[2], n[1])
  return string.match(all, '^0*(%d+)$')
end
local function add(a, b)
  local sum, carry = {}, 0
  for i = 1, 5 do
    sum[i] = a[i] + b[i] + carry
    carry = 0
    if i < 5 and sum[i] >= 1e9 then sum[i] = sum[i] - 1e9; carry = 1 end
  end
  return sum
end
local function sub(a, b)
  local rest, borrow = {}, 0
  for i = 1, 5 do
    rest[i] = a[i] - b[i] - borrow
    borrow = 0
    if i < 5 and rest[i] < 0 then rest[i] = rest[i] + 1e9; borrow = 1 end
  end
  return rest
end
local function atMost(a, b)
  for i = 5, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] end
  end
  return true
end`;
