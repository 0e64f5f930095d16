import {
  FEW_ASKED_MS,
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
 * `LeaseTable` in Redis: one call, one round trip, all or nothing. Each key begins with KEYS[1]: `meta` (epoch, grace,
 * heard, ahead, news), `instances` (id → number|seen|gone|folder of a journal with receipts that the ledger does not
 * have), `scarce` (windows of which some instance is short), `news`, `b:<instance>` (its budgets), `t:<instance>` (the
 * scarce windows that it may have to give some of: all of them may be thousands), and for each window a hash `w:<window>` with the content of a `WindowRow`: h: held, r: reclaimed, s: short, u: used, n: needed. A window
 * of another epoch counts as empty. Instances that should sync again soon are named on the channel `wanted`.
 *
 * Earlier versions know neither u: nor n:, and remove them when they write. Everything that such an instance holds
 * counts as used, and if it is short it gets an equal share: limits hold while both versions run.
 *
 * Redis only has its machine's clock, which may be set (H30). Times here are that clock plus `ahead`, which changes
 * when the clock is set: they never go back, and advance by no more than the sender knows to have passed since its
 * last message. A new instance cannot know that, and advances them only if it is the first.
 *
 * ARGV: the sync as JSON, how long a lease lasts, a name for a new epoch, and the time in tests. Amounts are returned
 * as text, because they may need all 53 bits.
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
local function toldKey(id) return prefix .. 't:' .. id end

local instances = {}
local all = redis.call('HGETALL', INSTANCES)
for i = 1, #all, 2 do
  local number, seen, gone, unstoredIn = string.match(all[i + 1], '^(%d+)|(-?%d+)|(-?%d*)|?(.*)$')
  instances[all[i]] = { number = tonumber(number), seenMs = tonumber(seen), goneMs = tonumber(gone), unstoredIn = unstoredIn }
end
-- Counted once for all windows of a message.
local alive
local function living()
  if alive then return alive end
  alive = 0
  for _, row in pairs(instances) do if row.goneMs == nil then alive = alive + 1 end end
  alive = math.max(1, alive)
  return alive
end
local function saveInstance(id)
  alive = nil
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

-- The last report of an instance about a window. An earlier version only reports that it is short.
local function readSaid(short, use, needs, held)
  local said = { used = tonumber(held or '0') or 0, reserved = 0, atMs = 0, shortUntilMs = 0 }
  said.busy = said.used
  if use then
    local used, reserved, busy, atMs = string.match(use, '^(%d+)|(%d+)|(%d+)|(-?%d+)$')
    said.used, said.reserved, said.busy, said.atMs = tonumber(used), tonumber(reserved), tonumber(busy), tonumber(atMs)
  end
  if short then
    said.shortUntilMs = tonumber(string.match(short, '^(-?%d+)|')) or 0
    said.wants = 'share'
  end
  if needs then
    local sinceMs, first, least, all, alone, hopeless, wants = string.match(needs, '^(-?%d*)|(%d*)|(%d*)|(%d*)|(%d*)|(%d)|(%w*)$')
    if sinceMs ~= '' then
      said.waits = { sinceMs = tonumber(sinceMs), first = tonumber(first), least = tonumber(least), all = tonumber(all),
        alone = tonumber(alone), isHopeless = hopeless == '1' }
    end
    said.wants = tonumber(wants) or (wants ~= '' and wants) or nil
  end
  return said
end
local function writeNeeds(said)
  local it = said.waits or {}
  local function number(value) return value and text(value) or '' end
  local wants = said.wants or ''
  if wants ~= '' and wants ~= 'share' then wants = text(wants) end
  return table.concat({ number(it.sinceMs), number(it.first), number(it.least), number(it.all), number(it.alone),
    it.isHopeless and '1' or '0', wants }, '|')
end
local rows = {}
local function rowOf(name, kind, limit)
  local row = rows[name]
  if row then return row end
  local fields = storedOf(name)
  if fields.epoch ~= epoch then
    if not kind then return nil end
    row = { kind = kind, limit = limit, told = 0, held = {}, reclaimed = {}, said = {} }
    if kind ~= 'budget' then row.base = 0 end
  else
    row = { kind = fields.kind, limit = tonumber(fields.limit), told = tonumber(fields.told), base = tonumber(fields.base or ''),
      held = {}, reclaimed = {}, said = {} }
    for field, value in pairs(fields) do
      local mark, id = string.sub(field, 1, 2), string.sub(field, 3)
      if mark == 'h:' then row.held[id] = tonumber(value)
      elseif mark == 'r:' then row.reclaimed[id] = tonumber(value)
      elseif mark == 's:' then row.said[id] = readSaid(value, fields['u:' .. id], fields['n:' .. id], fields['h:' .. id])
      elseif mark == 'u:' and not fields['s:' .. id] then row.said[id] = readSaid(nil, value, nil, nil) end
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
  for id, said in pairs(row.said) do
    if row.held[id] ~= nil then
      put('u:' .. id, table.concat({ text(said.used), text(said.reserved), text(said.busy), text(said.atMs) }, '|'))
      if said.shortUntilMs > nowMs then
        put('s:' .. id, text(said.shortUntilMs) .. '|' .. (said.wants == 'share' and not said.waits and '0' or '1'))
        put('n:' .. id, writeNeeds(said))
      end
    end
  end
  for field in pairs(before) do if after[field] == nil then gone[#gone + 1] = field end end
  -- Most of the time only the expiry changes.
  if #changed > 0 then redis.call('HSET', key, unpack(changed)) end
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  redis.call('PEXPIRE', key, ${KEPT_MS})
  stored[name] = after
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
local function isBefore(one, other)
  if not one.waits then return false end
  if not other.waits then return true end
  if one.waits.isHopeless ~= other.waits.isHopeless then return not one.waits.isHopeless end
  if one.waits.sinceMs ~= other.waits.sinceMs then return one.waits.sinceMs < other.waits.sinceMs end
  return one.id < other.id
end
-- As in divide.ts.
local function divide(parties, left)
  local pool, isReserved, waiting, active = left, false, {}, 0
  for _, party in ipairs(parties) do
    party.level, party.firm = party.used, party.used
    pool = pool - party.used
    if party.reserved > 0 then isReserved = true end
    if party.waits then waiting[#waiting + 1] = party end
    if party.waits or party.wants or party.busy > party.used then active = active + 1 end
  end
  pool = math.max(0, pool)
  local function give(party, amount)
    party.level = party.level + amount
    pool = pool - amount
  end
  table.sort(waiting, isBefore)
  for _, party in ipairs(waiting) do
    local it = party.waits
    if it.first <= pool then give(party, it.first)
    elseif it.alone and it.alone <= pool and not isReserved then give(party, pool)
    elseif it.least <= pool then give(party, it.least) end
  end
  for _, party in ipairs(waiting) do
    if party.waits.least <= pool then give(party, math.min(pool, math.max(0, party.used + party.waits.all - party.level))) end
    party.firm = party.level
  end
  local share, idle, count = math.floor(math.max(0, left) / living()), pool, living()
  for _, party in ipairs(parties) do
    if party.wants then
      local most, divisor = share, count
      if party.wants ~= 'share' then most, divisor = math.max(party.wants, share), active end
      give(party, math.max(0, math.min(pool, most - party.level, math.floor(idle / divisor))))
    end
  end
  local busySum, idleSum = 0, 0
  for _, party in ipairs(parties) do
    party.ofBusy = math.max(0, math.min(party.held, party.busy) - party.level)
    party.ofIdle = math.max(0, party.held - party.level) - party.ofBusy
    busySum, idleSum = busySum + party.ofBusy, idleSum + party.ofIdle
  end
  local function part(amount, sum, most)
    if sum <= most then return amount end
    return math.floor((amount / sum) * most)
  end
  local taken = idleSum - math.max(0, pool - busySum)
  if taken > 0 then
    local kept = {}
    for i, party in ipairs(parties) do kept[i] = party end
    table.sort(kept, function(one, other)
      if one.ofIdle ~= other.ofIdle then return one.ofIdle > other.ofIdle end
      return one.id < other.id
    end)
    for divisor = 2, 1, -1 do
      for _, party in ipairs(kept) do
        local given = math.min(taken, math.ceil(party.ofIdle / divisor))
        party.ofIdle, taken = party.ofIdle - given, taken - given
      end
    end
  end
  for _, party in ipairs(parties) do party.level = party.level + part(party.ofBusy, busySum, pool) + party.ofIdle end
end
local function divisionOf(row)
  local free, parties, over = 0, {}, {}
  if row.base ~= nil then free = leftOf(row) end
  local left, used = free, 0
  for id, held in pairs(row.held) do
    if not counts(row.kind, id) then over[#over + 1] = id
    else
      free = free - held
      local other = instances[id]
      if other and other.goneMs == nil then
        local said = row.said[id] or { used = held, reserved = 0, busy = held, shortUntilMs = 0, atMs = 0 }
        local party = { id = id, held = held, used = said.used, reserved = said.reserved, busy = said.busy, atMs = said.atMs }
        if said.shortUntilMs > nowMs then party.waits, party.wants = said.waits, said.wants end
        parties[#parties + 1] = party
        used = used + party.used
      else left = left - held end
    end
  end
  for _, id in ipairs(over) do row.held[id] = nil row.said[id] = nil end
  table.sort(parties, function(one, other) return one.id < other.id end)
  if row.base ~= nil then divide(parties, left)
  else
    -- Until it is known what was spent of a budget, nobody gives or gets any.
    for _, party in ipairs(parties) do party.level, party.firm = party.held, party.held end
  end
  return { parties = parties, free = free, idle = math.max(0, left - used) }
end
local function partyOf(division, id)
  for _, party in ipairs(division.parties) do if party.id == id then return party end end
  return nil
end
local function grant(division, party)
  if not party or party.level <= party.held then return 0 end
  local ahead, behind = 0, 0
  for _, other in ipairs(division.parties) do
    local lacking = math.max(0, other.firm - other.held)
    if other ~= party and lacking > 0 then
      if isBefore(other, party) then ahead = ahead + lacking else behind = behind + lacking end
    end
  end
  local firm = math.max(0, math.min(party.firm - party.held, division.free - ahead))
  return firm + math.max(0, math.min(party.level - party.held - firm, division.free - ahead - behind - firm))
end
local function isAnyShort(division)
  for _, party in ipairs(division.parties) do if party.waits or party.wants then return true end end
  return false
end
local concerned, told, alone, left = {}, {}, {}, {}
local function tell(id, name)
  local names = told[id]
  if not names then told[id] = { name } else names[#names + 1] = name end
end
local function noteConcerned(division, row, it)
  if not isAnyShort(division) then
    redis.call('SREM', SCARCE, it.window)
    return
  end
  local latestMs, mayNeedAll = nil, false
  for _, party in ipairs(division.parties) do
    if party.waits then
      latestMs = math.max(latestMs or party.waits.sinceMs, party.waits.sinceMs)
      if party.firm < party.used + party.waits.all or party.waits.sinceMs <= nowMs - ${FEW_ASKED_MS} then mayNeedAll = true end
    end
  end
  for _, party in ipairs(division.parties) do
    local isOld = mayNeedAll and party.held > 0 and party.atMs < latestMs
    local isConcerned = party.level < party.held or (party.firm > party.held and division.free > 0) or isOld
    if isConcerned or (mayNeedAll and party.held > 0) then tell(party.id, it.window) end
    if isConcerned and party.id ~= me then concerned[party.id] = true end
  end
  if it.isPassing then return end
  -- If this server has lost what they hold, they must be told.
  for id, other in pairs(instances) do
    if other.goneMs == nil and row.held[id] == nil then tell(id, it.window) end
  end
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

-- What it has spent is in the ledger: the next instance that asks for an unknown budget gets it from there.
local function forget(it)
  local row = rowOf(it.window)
  left[#left + 1] = '0'
  if row then
    if row.kind == 'budget' and row.base ~= nil then
      row.base = row.base + it.held - (row.reclaimed[me] or 0)
      row.reclaimed[me] = it.held
    end
    row.held[me] = nil
    row.said[me] = nil
    redis.call('SREM', budgetsKey(me), it.window)
    if next(row.held) == nil then
      redis.call('DEL', windowKey(it.window))
      redis.call('SREM', SCARCE, it.window)
      rows[it.window] = nil
      stored[it.window] = nil
    else
      left[#left] = text(divisionOf(row).idle)
      saveRow(it.window)
    end
  end
  return 0
end
local function isScarce(name) return redis.call('SISMEMBER', SCARCE, name) == 1 end
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
            -- It may be alive, and report in a moment: reclaims of unknown instances are not kept.
            if not other then
              instances[id] = { number = 0, seenMs = nowMs, goneMs = nowMs, unstoredIn = '' }
              saveInstance(id)
            end
          end
        end
      end
    end
  end
  if row.held[me] == nil then row.told = row.told + it.held end
  row.held[me] = it.held
  local isShort = it.waits or it.wants
  row.said[me] = { used = it.used, reserved = it.reserved or 0, busy = it.busy or it.used, atMs = nowMs,
    shortUntilMs = isShort and nowMs + ${SHORT_MS} or 0, waits = it.waits, wants = it.wants }
  if it.waits then it.waits.isHopeless = it.waits.isHopeless or false end
  if isShort then
    local holders = 0
    for _ in pairs(row.held) do holders = holders + 1 end
    if not it.isPassing or holders > 1 then redis.call('SADD', SCARCE, it.window) end
  end
  local division = divisionOf(row)
  local held = it.held + grant(division, partyOf(division, me))
  row.held[me] = held
  if it.waits and it.waits.alone and division.free <= held - it.held then
    local isAlone = true
    for _, party in ipairs(division.parties) do
      if party.id ~= me and (party.held > party.used or party.reserved > 0) then isAlone = false end
    end
    if isAlone then alone[#alone + 1] = it.window end
  end
  if isScarce(it.window) then noteConcerned(divisionOf(row), row, it) end
  if row.kind == 'budget' then
    redis.call('SADD', budgetsKey(me), it.window)
    redis.call('PEXPIRE', budgetsKey(me), ${KEPT_MS})
  end
  saveRow(it.window)
  left[#left + 1] = text(division.idle)
  local over = held + heldByOthers(row, me) - (row.limit - (row.base or 0))
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
      redis.call('DEL', toldKey(id))
    end
  end
  for _, it in ipairs(sync.reclaims) do reclaim(it.instance, it.window, it.spent) end
  for i, it in ipairs(sync.claims) do
    if it.forgets then held[i] = text(forget(it))
    else
      held[i] = text(claim(it))
      if rows[it.window].base == nil then unknown[#unknown + 1] = it.window end
    end
  end
  if sync.leaves then
    instances[me].goneMs = nowMs
    saveInstance(me)
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

for id, names in pairs(told) do
  redis.call('SADD', toldKey(id), unpack(names))
  redis.call('PEXPIRE', toldKey(id), ${KEPT_MS})
end
local wanted = {}
for _, name in ipairs(redis.call('SRANDMEMBER', toldKey(me), ${MAX_WANTED})) do
  local row = rowOf(name)
  local division = row and divisionOf(row)
  local isAwaited, party = false, nil
  if row then
    party = partyOf(division, me)
    for _, other in ipairs(division.parties) do if other.waits and other.id ~= me then isAwaited = true end end
  end
  local level, held = party and party.level or 0, row and row.held[me] or math.huge
  if row and isAnyShort(division) and (level < held or (isAwaited and held > 0)) then wanted[#wanted + 1] = { name, text(level) }
  else redis.call('SREM', toldKey(me), name) end
end
local called = {}
for id in pairs(concerned) do called[#called + 1] = id end
-- If the user of this connection may not publish, others poll.
if #called > 0 then redis.pcall('PUBLISH', prefix .. 'wanted', table.concat(called, ' ')) end
local dead = {}
for id, row in pairs(instances) do
  if row.goneMs ~= nil and (row.unstoredIn == '' or row.unstoredIn == sync.journals) then
    local windows = {}
    for _, name in ipairs(redis.call('SRANDMEMBER', budgetsKey(id), ${MAX_DEAD_WINDOWS})) do
      -- Two of its fields: there may be many windows, each with a part of every instance.
      local known = redis.call('HMGET', windowKey(name), 'epoch', 'h:' .. id)
      if known[1] ~= epoch or not known[2] then redis.call('SREM', budgetsKey(id), name)
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
return { epoch, text(living()), held, unknown, wanted, dead, news, text(newsNumber), left, alone, text(nowMs) }
`;

/**
 * Deletes keys of another type than `LEASE_SCRIPT` writes, and returns their names: of the keys that every sync reads,
 * of the windows in ARGV[1], and of the budgets of every known instance.
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
for _, id in ipairs(redis.call('HKEYS', prefix .. 'instances')) do
  check('b:' .. id, 'set')
  check('t:' .. id, 'set')
end
return wrong
`;
