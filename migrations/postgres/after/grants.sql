-- Functions are executable by everybody when they are created: not ours.

select pgflow.grant_roles();
