-- Divides the table of receipts by month, from the next month on, for two years: `psql --single-transaction --file`
-- this, with all gateways stopped. What is there becomes the first part, which is read once to check it.
--
-- Then, instead of `ledger.retention_days`: SELECT drop_receipts_before('2027-01-01Z');
-- And once a year: SELECT add_receipt_months(12);
-- The first part has no month: DROP TABLE receipts_before, when all of it is that old.

-- Ids of receipts begin with their time, so that a month is a range of ids.
CREATE FUNCTION first_receipt_id(moment TIMESTAMPTZ) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT 'rcp_' || string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz',
    CAST(trunc(extract(epoch FROM moment) * 1000 / power(36::NUMERIC, 8 - place)) % 36 AS INTEGER) + 1, 1), '' ORDER BY place)
  FROM generate_series(0, 8) AS place
$$;

-- The months after the last one that there is.
CREATE FUNCTION add_receipt_months(months INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  first TIMESTAMP := COALESCE(
    (SELECT MAX(to_date(substr(relname, 10), 'YYYY_MM')) + INTERVAL '1 month'
      FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = 'receipts'::REGCLASS AND relname ~ '^receipts_\d{4}_\d\d$'),
    date_trunc('month', now() AT TIME ZONE 'UTC') + INTERVAL '1 month');
BEGIN
  FOR month IN 0 .. months - 1 LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF receipts FOR VALUES FROM (%L) TO (%L)',
      'receipts_' || to_char(first + month * INTERVAL '1 month', 'YYYY_MM'),
      first_receipt_id((first + month * INTERVAL '1 month') AT TIME ZONE 'UTC'),
      first_receipt_id((first + (month + 1) * INTERVAL '1 month') AT TIME ZONE 'UTC'));
  END LOOP;
END $$;

-- Drops whole months, and tells gateways that only the sums of that time are left.
CREATE FUNCTION drop_receipts_before(moment TIMESTAMPTZ) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  part TEXT;
BEGIN
  INSERT INTO settings (name, value) VALUES ('receipts_kept_since_ms', trunc(extract(epoch FROM moment) * 1000)::TEXT)
    ON CONFLICT (name) DO UPDATE SET value = GREATEST(settings.value::BIGINT, excluded.value::BIGINT)::TEXT;
  FOR part IN SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'receipts'::REGCLASS AND relname ~ '^receipts_\d{4}_\d\d$'
      AND (to_date(substr(relname, 10), 'YYYY_MM') + INTERVAL '1 month') AT TIME ZONE 'UTC' <= moment
  LOOP
    EXECUTE format('DROP TABLE %I', part);
  END LOOP;
END $$;

ALTER TABLE receipts RENAME TO receipts_before;
ALTER TABLE receipts_before RENAME CONSTRAINT receipts_pkey TO receipts_before_pkey;
ALTER INDEX receipts_by_batch RENAME TO receipts_before_by_batch;
ALTER INDEX receipts_by_end_user RENAME TO receipts_before_by_end_user;
ALTER INDEX receipts_by_trace RENAME TO receipts_before_by_trace;
DROP TRIGGER receipts_rolled_up ON receipts_before;
DROP TRIGGER receipts_counted_by_end_user ON receipts_before;
DROP TRIGGER receipts_late_for_export ON receipts_before;

CREATE TABLE receipts (LIKE receipts_before INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE INDEX receipts_by_batch ON receipts (batch_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX receipts_by_end_user ON receipts (end_user, id) WHERE end_user IS NOT NULL;
CREATE INDEX receipts_by_trace ON receipts (trace_id) WHERE trace_id IS NOT NULL;
CREATE TRIGGER receipts_rolled_up AFTER INSERT ON receipts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION roll_up_receipts();
CREATE TRIGGER receipts_counted_by_end_user AFTER INSERT ON receipts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_by_end_user();
-- A gateway with exports enables it at its start.
CREATE TRIGGER receipts_late_for_export AFTER INSERT ON receipts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_late_receipts();
ALTER TABLE receipts DISABLE TRIGGER receipts_late_for_export;

DO $$ BEGIN
  EXECUTE format('ALTER TABLE receipts ATTACH PARTITION receipts_before FOR VALUES FROM (MINVALUE) TO (%L)',
    first_receipt_id((date_trunc('month', now() AT TIME ZONE 'UTC') + INTERVAL '1 month') AT TIME ZONE 'UTC'));
END $$;
SELECT add_receipt_months(24);
-- No receipt is refused because a month is missing.
CREATE TABLE receipts_of_other_months PARTITION OF receipts DEFAULT;
