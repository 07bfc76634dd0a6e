-- pgflow flow: order v2
-- Written by pgflow when the crate was built. Do not edit it: pgflow.lock has its checksum.
-- Differs from version 1; compatible: a new version; runs in flight keep the old one, and this code can finish them.
--   step `invoice` was called `bill`
--   step `letter` is new
SELECT pgflow.create_flow('order__v2', max_attempts => 5);
SELECT pgflow.add_step('order__v2', 'basket');
SELECT pgflow.add_step('order__v2', 'price', ARRAY['basket'], step_type => 'map');
SELECT pgflow.add_step('order__v2', 'invoice', ARRAY['price'], timeout => 30);
SELECT pgflow.add_step('order__v2', 'letter', ARRAY['invoice'], forbidden_input_pattern => '{"invoice":{"cents":0}}');
SELECT pgflow.add_flow_version('order', 2, 'order__v2');
