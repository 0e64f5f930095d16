import {
  FORGET_MS,
  JOURNAL_LOST_MS,
  KEPT_MS,
  MAX_DEAD_WINDOWS,
  MAX_NEWS,
  MAX_WANTED,
  MINUTE_MS,
  SHORT_MS,
  SILENCE_MS,
  STEP_MS,
} from "./lease-source.ts";

/**
 * `LeaseTable` in Redis: one call, one round trip, all or nothing. What it keeps, each key behind KEYS[1]:
 * `meta` (epoch, grace, heard, ahead, news), `instances` (id → number|seen|gone|folder of a journal with receipts that the ledger has not), `scarce` (windows of which some instance is short),
 * `news`, `b:<instance>` (its budgets), and for each window a hash `w:<window>` with what is in a `WindowRow`: h: held, r: reclaimed,
 * s: short. A window of another epoch is an empty one.
 *
 * Redis has no clock but that of its machine, which may be set (H30). Times here are those of that clock and what is `ahead`, which changes when
 * the clock is set: they never go back, and no further than what the instance that tells something knows to have passed since it last did.
 * One that cannot know, because it is new, moves them on only where it is the first.
 *
 * ARGV: the sync as JSON, how long a lease lasts, a name for a new epoch, and the time in tests. Amounts are returned as text,
 * because they may need all 53 bits.
 */
export const LEASE_SCRIPT = `
local prefix = KEYS[1]
local sync = cjson.decode(ARGV[1])
local leaseMs = tonumber(ARGV[2])
local nowMs = tonumber(ARGV[4])
if nowMs == nil then
  local time = redis.call('TIME')
  nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local me = sync.instance
local META, INSTANCES, SCARCE, NEWS = prefix .. 'meta', prefix .. 'instances', prefix .. 'scarce', prefix .. 'news'
local function text(number) return string.format('%.0f', number) end
local function windowKey(name) return prefix .. 'w:' .. name end
local function budgetsKey(id) return prefix .. 'b:' .. id end

local instances = {}
local all = redis.call('HGETALL', INSTANCES)
for i = 1, #all, 2 do
  local number, seen, gone, unstoredIn = string.match(all[i + 1], '^(%d+)|(-?%d+)|(-?%d*)|?(.*)$')
  instances[all[i]] = { number = tonumber(number), seenMs = tonumber(seen), goneMs = tonumber(gone), unstoredIn = unstoredIn }
end
local function saveInstance(id)
  local row = instances[id]
  local gone = ''
  if row.goneMs ~= nil then gone = text(row.goneMs) end
  redis.call('HSET', INSTANCES, id, text(row.number) .. '|' .. text(row.seenMs) .. '|' .. gone .. '|' .. row.unstoredIn)
end

local meta = redis.call('HMGET', META, 'epoch', 'grace', 'heard', 'news', 'ahead')
local epoch, graceUntilMs, heardMs = meta[1], tonumber(meta[2] or '0') or 0, tonumber(meta[3] or '')
local newsNumber = tonumber(meta[4] or '0') or 0
local known = instances[me]
local clockMs, aheadMs = nowMs, tonumber(meta[5] or '0') or 0
nowMs = clockMs + aheadMs
local latestMs
if known and sync.number > known.number and sync.answered > 0 and sync.answered <= known.number and sync.answeredAgoMs then
  latestMs = known.seenMs + sync.answeredAgoMs
elseif not sync.isFirst then latestMs = heardMs end
if latestMs and nowMs - latestMs > ${STEP_MS} then nowMs = latestMs end
if heardMs and nowMs < heardMs then nowMs = heardMs end
if nowMs - clockMs ~= aheadMs then redis.call('HSET', META, 'ahead', text(nowMs - clockMs)) end
local stored = {}
local function storedOf(name)
  local fields = stored[name]
  if fields then return fields end
  fields = {}
  local pairsOf = redis.call('HGETALL', windowKey(name))
  for i = 1, #pairsOf, 2 do fields[pairsOf[i]] = pairsOf[i + 1] end
  stored[name] = fields
  return fields
end
local function hasLostWindow()
  if not known or known.goneMs ~= nil then return false end
  for _, it in ipairs(sync.claims) do
    if it.isKnown and storedOf(it.window)['h:' .. me] == nil then return true end
  end
  return false
end
local hasLost = epoch and sync.epoch == epoch and (sync.answered > ((known and known.number) or 0) or hasLostWindow())
if not epoch or hasLost then
  graceUntilMs = 0
  if epoch or not sync.isFirst then graceUntilMs = nowMs + leaseMs end
  epoch = ARGV[3]
  redis.call('HSET', META, 'epoch', epoch, 'grace', text(graceUntilMs))
  redis.call('DEL', SCARCE)
end

local rows = {}
local function rowOf(name, kind, limit)
  local row = rows[name]
  if row then return row end
  local fields = storedOf(name)
  if fields.epoch ~= epoch then
    if not kind then return nil end
    row = { kind = kind, limit = limit, told = 0, held = {}, reclaimed = {}, short = {} }
    if kind ~= 'budget' then row.base = 0 end
  else
    row = { kind = fields.kind, limit = tonumber(fields.limit), told = tonumber(fields.told), base = tonumber(fields.base or ''),
      held = {}, reclaimed = {}, short = {} }
    for field, value in pairs(fields) do
      local mark, id = string.sub(field, 1, 2), string.sub(field, 3)
      if mark == 'h:' then row.held[id] = tonumber(value)
      elseif mark == 'r:' then row.reclaimed[id] = tonumber(value)
      elseif mark == 's:' then
        local untilMs, ofMore = string.match(value, '^(%d+)|(%d)$')
        row.short[id] = { untilMs = tonumber(untilMs), ofMore = ofMore == '1' }
      end
    end
  end
  rows[name] = row
  return row
end
local function saveRow(name)
  local row = rows[name]
  local key = windowKey(name)
  local before, after, changed, gone = storedOf(name), {}, {}, {}
  local function put(field, value)
    after[field] = value
    if before[field] ~= value then changed[#changed + 1] = field changed[#changed + 1] = value end
  end
  put('epoch', epoch)
  put('kind', row.kind)
  put('limit', text(row.limit))
  put('told', text(row.told))
  if row.base ~= nil then put('base', text(row.base)) end
  for id, held in pairs(row.held) do put('h:' .. id, text(held)) end
  for id, spent in pairs(row.reclaimed) do if instances[id] then put('r:' .. id, text(spent)) end end
  for id, short in pairs(row.short) do put('s:' .. id, text(short.untilMs) .. '|' .. (short.ofMore and '1' or '0')) end
  for field in pairs(before) do if after[field] == nil then gone[#gone + 1] = field end end
  -- Most of the time nothing is new but that it is kept.
  if #changed > 0 then redis.call('HSET', key, unpack(changed)) end
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  redis.call('PEXPIRE', key, ${KEPT_MS})
  stored[name] = after
end

local function living()
  local count = 0
  for _, row in pairs(instances) do if row.goneMs == nil then count = count + 1 end end
  return math.max(1, count)
end
local function leftOf(row)
  local left = row.limit - (row.base or 0)
  local graceMs = graceUntilMs
  if row.kind == 'rate' and graceMs > 0 then graceMs = graceMs + ${MINUTE_MS} end
  if nowMs < graceMs then left = math.min(left, row.told) end
  return left
end
local function counts(kind, id)
  if kind == 'budget' then return true end
  local row = instances[id]
  if row == nil then return false end
  if row.goneMs == nil then return true end
  return kind == 'rate' and nowMs - row.goneMs < ${MINUTE_MS}
end
local function heldByDead(row)
  local sum = 0
  for id, held in pairs(row.held) do
    local other = instances[id]
    if (other == nil or other.goneMs ~= nil) and counts(row.kind, id) then sum = sum + held end
  end
  return sum
end
local function shareOf(row) return math.floor(math.max(0, leftOf(row) - heldByDead(row)) / living()) end
local function heldByOthers(row, id)
  local sum = 0
  local over = {}
  for other, held in pairs(row.held) do
    if other ~= id then
      if counts(row.kind, other) then sum = sum + held else over[#over + 1] = other end
    end
  end
  for _, other in ipairs(over) do row.held[other] = nil end
  return sum
end
local function rivals(row, id)
  local count, ofMore, over = 0, false, {}
  for other, short in pairs(row.short) do
    if short.untilMs <= nowMs then over[#over + 1] = other
    elseif other ~= id then
      count = count + 1
      if short.ofMore then ofMore = true end
    end
  end
  for _, other in ipairs(over) do row.short[other] = nil end
  return count, ofMore
end
local function reclaim(id, name, spent)
  redis.call('SREM', budgetsKey(id), name)
  local row = rowOf(name)
  if not row or row.base == nil or not instances[id] or instances[id].goneMs == nil or row.held[id] == nil then return end
  row.held[id] = nil
  row.base = row.base + spent
  row.reclaimed[id] = spent
  saveRow(name)
end

local function claim(it)
  local row = rowOf(it.window, it.kind, it.limit)
  row.limit = it.limit
  local again = row.reclaimed[me]
  if again ~= nil then
    row.base = (row.base or 0) - again
    row.reclaimed[me] = nil
  end
  if it.spent and row.base == nil then
    row.base = 0
    for id, spent in pairs(it.spent) do
      local other = instances[id]
      if id ~= me then
        if other and other.goneMs == nil then
          row.held[id] = math.max(row.held[id] or 0, spent)
          redis.call('SADD', budgetsKey(id), it.window)
        elseif row.held[id] == nil then
          row.base = row.base + spent
          if id ~= '' then
            row.reclaimed[id] = spent
            -- It may live, and tell so in a moment: what was reclaimed of instances that are not known is not kept.
            if not other then
              instances[id] = { number = 0, seenMs = nowMs, goneMs = nowMs, unstoredIn = '' }
              saveInstance(id)
            end
          end
        end
      end
    end
  end
  if it.isShort then
    row.short[me] = { untilMs = nowMs + ${SHORT_MS}, ofMore = it.isShort == 'of more' }
    redis.call('SADD', SCARCE, it.window)
  else row.short[me] = nil end
  if row.held[me] == nil then row.told = row.told + it.held end
  local others = heldByOthers(row, me)
  local held = it.held
  if row.base ~= nil then
    local free = leftOf(row) - others - held
    if free > 0 then
      local share = shareOf(row)
      local wanted = it.wants or share
      if it.isShort then wanted = math.max(it.wants or 0, share) end
      local count = rivals(row, me)
      local most = free
      if count > 0 then most = math.max(share - held, math.ceil(free / (count + 1))) end
      held = held + math.max(0, math.min(free, wanted - held, most))
    end
  end
  if it.isShort and held >= (it.wants or math.max(1, shareOf(row))) then row.short[me] = nil end
  row.held[me] = held
  if row.kind == 'budget' then
    redis.call('SADD', budgetsKey(me), it.window)
    redis.call('PEXPIRE', budgetsKey(me), ${KEPT_MS})
  end
  saveRow(it.window)
  local over = held + others - (row.limit - (row.base or 0))
  return math.max(0, held - math.max(0, over))
end

local held, unknown = {}, {}
if not known or sync.number > known.number then
  instances[me] = { number = sync.number, seenMs = nowMs, unstoredIn = sync.isBehind and sync.journals or '' }
  if (not heardMs or nowMs - heardMs > ${SILENCE_MS}) and not sync.isFirst then
    for id, row in pairs(instances) do
      if row.goneMs == nil then row.seenMs = nowMs saveInstance(id) end
    end
  end
  redis.call('HSET', META, 'heard', text(nowMs))
  saveInstance(me)
  for _, id in ipairs(sync.dead) do
    local row = instances[id]
    if row and row.goneMs == nil then row.goneMs = nowMs saveInstance(id) end
  end
  for id, row in pairs(instances) do
    if row.goneMs == nil and nowMs - row.seenMs > leaseMs then row.goneMs = row.seenMs + leaseMs saveInstance(id) end
    if row.goneMs ~= nil and row.unstoredIn ~= '' and nowMs - row.goneMs > ${JOURNAL_LOST_MS} then
      row.unstoredIn = ''
      saveInstance(id)
    end
    if row.goneMs ~= nil and nowMs - row.goneMs > ${FORGET_MS} and redis.call('SCARD', budgetsKey(id)) == 0 then
      instances[id] = nil
      redis.call('HDEL', INSTANCES, id)
    end
  end
  for _, it in ipairs(sync.reclaims) do reclaim(it.instance, it.window, it.spent) end
  for i, it in ipairs(sync.claims) do
    held[i] = text(claim(it))
    if rows[it.window].base == nil then unknown[#unknown + 1] = it.window end
  end
  if sync.leaves then
    instances[me].goneMs = nowMs
    saveInstance(me)
    for _, name in ipairs(redis.call('SMEMBERS', budgetsKey(me))) do
      local row = rowOf(name)
      if row then reclaim(me, name, row.held[me] or 0) end
    end
  end
  for _, news in ipairs(sync.news) do
    newsNumber = newsNumber + 1
    redis.call('RPUSH', NEWS, text(newsNumber) .. '|' .. me .. '|' .. news)
  end
  if #sync.news > 0 then
    redis.call('LTRIM', NEWS, -${MAX_NEWS}, -1)
    redis.call('HSET', META, 'news', text(newsNumber))
  end
end

local wanted = {}
for _, name in ipairs(redis.call('SMEMBERS', SCARCE)) do
  local row = rowOf(name)
  local count, ofMore = 0, false
  if row then count, ofMore = rivals(row, me) end
  if not row or next(row.short) == nil then redis.call('SREM', SCARCE, name)
  elseif count > 0 and #wanted < ${MAX_WANTED} then
    local least = ofMore and 0 or shareOf(row)
    local isFree = row.base ~= nil and leftOf(row) - heldByOthers(row, nil) > 0
    if not isFree and (row.held[me] or math.huge) > least then wanted[#wanted + 1] = name end
  end
end
local dead = {}
for id, row in pairs(instances) do
  if row.goneMs ~= nil and (row.unstoredIn == '' or row.unstoredIn == sync.journals) then
    local windows = {}
    for _, name in ipairs(redis.call('SMEMBERS', budgetsKey(id))) do
      local window = rowOf(name)
      if not window or window.held[id] == nil then redis.call('SREM', budgetsKey(id), name)
      elseif #windows < ${MAX_DEAD_WINDOWS} then windows[#windows + 1] = name end
    end
    if #windows > 0 then dead[#dead + 1] = { id, windows } end
  end
end
local news = {}
if newsNumber > sync.newsSeen then
  for _, entry in ipairs(redis.call('LRANGE', NEWS, -(newsNumber - sync.newsSeen), -1)) do
    local number, from, told = string.match(entry, '^(%d+)|([^|]*)|(.*)$')
    if tonumber(number) > sync.newsSeen and from ~= me then news[#news + 1] = told end
  end
end
return { epoch, text(living()), held, unknown, wanted, dead, news, text(newsNumber) }
`;

/**
 * Deletes what has another type than `LEASE_SCRIPT` gives it, and returns the names: of the keys that every sync reads, of the windows
 * in ARGV[1], and of the budgets of every instance that is known.
 */
export const REPAIR_SCRIPT = `
local prefix = KEYS[1]
local wrong = {}
local function check(name, kind)
  local found = redis.call('TYPE', prefix .. name).ok
  if found == 'none' or found == kind then return end
  redis.call('DEL', prefix .. name)
  wrong[#wrong + 1] = prefix .. name
end
check('meta', 'hash')
check('instances', 'hash')
check('scarce', 'set')
check('news', 'list')
for _, name in ipairs(redis.call('SMEMBERS', prefix .. 'scarce')) do check('w:' .. name, 'hash') end
for _, name in ipairs(cjson.decode(ARGV[1])) do check('w:' .. name, 'hash') end
for _, id in ipairs(redis.call('HKEYS', prefix .. 'instances')) do check('b:' .. id, 'set') end
return wrong
`;
