-- pgflow flow: order v1
-- Written by pgflow when the crate was built. Do not edit it: pgflow.lock has its checksum.
SELECT pgflow.create_flow('order', max_attempts => 5);
SELECT pgflow.add_step('order', 'basket');
SELECT pgflow.add_step('order', 'price', ARRAY['basket'], step_type => 'map');
SELECT pgflow.add_step('order', 'bill', ARRAY['price'], timeout => 30);
